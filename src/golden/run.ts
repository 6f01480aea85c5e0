// One comparison with a recorded folder, as the same events that `check` emits, so that every report reads them.

import {
  type Failure,
  NOT_TRIED,
  type PropertyFacts,
  type PropertyResult,
  type Replay,
  type RunEvent,
} from '../check/events.ts';
import type { Finding, Stage, World } from '../check/property.ts';
import { caseId } from '../check/saved/saved-case.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { VERSION } from '../version.ts';
import type { DType } from '../vocabulary.ts';
import { askAll, type Reply } from './ask.ts';
import type { GoldenCase } from './case.ts';
import { DECLARED, declarations } from './declared.ts';
import type { Entry, Fields } from './entry.ts';
import type { GoldenFile, Head } from './file.ts';
import { type Judged, judgeCase, judgeDeclared } from './judge.ts';

export interface GoldenRun {
  readonly trainer: Trainer;
  readonly world: World;
  /** What the folder of the trainer's tokenizer holds. */
  readonly tokenizer: Fields | undefined;
  readonly cases: readonly GoldenCase[];
  readonly files: readonly GoldenFile[];
  /** Only entries that it says yes to. */
  readonly wanted: (id: string) => boolean;
  readonly signal?: AbortSignal;
  readonly command: string;
  /** The trainer is the bundled example. */
  readonly bundled?: boolean;
  readonly replay: Replay;
  /** What to type for an entry to be accepted. */
  readonly acceptLine: (id: string) => string;
  /** ISO 8601 in UTC. */
  readonly started?: string;
}

/** Every id that is recorded or could be, in the order of a run. */
export function idsOfRun({
  trainer,
  tokenizer,
  cases,
  files,
}: Pick<GoldenRun, 'trainer' | 'tokenizer' | 'cases' | 'files'>): string[] {
  const declared = declarations(trainer.hello, tokenizer).map(({ id }) => id);
  const known = [...declared, ...cases.map(({ id }) => id)];
  const recorded = files.flatMap(({ entries }) => entries.map(({ id }) => id));
  return [...known, ...recorded.filter((id) => !known.includes(id)).sort()];
}

/** Compares and returns the results; `emit` sees each event as it happens. Does not stop the trainer. */
export async function judgeGolden(
  run: GoldenRun,
  emit: (event: RunEvent) => void,
): Promise<readonly PropertyResult[]> {
  const { trainer, world, tokenizer, command, replay, started, signal } = run;
  const ids = idsOfRun(run).filter(run.wanted);
  const recorded = entriesOf(run.files);
  const cases = new Map(run.cases.map((each) => [each.id, each]));
  const begun = performance.now();
  emit({
    type: 'run-start',
    seed: NO_SEED,
    cases: 1,
    hello: trainer.hello,
    command,
    properties: ids.map((id) => factsOf(id, cases.get(id))),
    version: VERSION,
    ...(run.bundled ? { bundled: true as const } : {}),
    ...(started === undefined ? {} : { started }),
    replay,
  });
  const now = new Map(declarations(trainer.hello, tokenizer).map((each) => [each.id, each]));
  const asked = ids.flatMap((id) => cases.get(id) ?? []);
  const replies = askAll(trainer, world, asked, signal);
  const versions = versionWords(run.files, trainer, tokenizer);
  const dtype = dtypeOf(recorded);
  const results: PropertyResult[] = [];
  let isGone = false;
  for (const [index, id] of ids.entries()) {
    emit({ type: 'property-start', id, index, total: ids.length });
    const before = performance.now();
    const golden = cases.get(id);
    const next = golden === undefined ? undefined : await replies.next();
    const bare = { id, title: titleOf(golden), level: 'must', ...NOT_TRIED } as const;
    let result: PropertyResult;
    if (next?.done === true)
      result = { ...bare, verdict: 'interrupted', reason: 'the run was interrupted before it' };
    else {
      const reply = next?.value[1];
      const judged =
        id.startsWith(`${DECLARED}/`) && golden === undefined
          ? judgeDeclared(recorded.get(id), now.get(id))
          : judgeCase(golden, recorded.get(id), reply, world, dtype);
      if (isGone && judged.state === 'error')
        result = { ...bare, verdict: 'skipped', reason: 'the trainer can no longer be started' };
      else result = resultOf(bare, judged, reply, { run, golden, versions });
      const kind = judged.state === 'error' ? judged.failure.kind : undefined;
      isGone ||= kind === 'budget' || kind === 'start';
    }
    result = { ...result, milliseconds: performance.now() - before };
    results.push(result);
    emit({ type: 'property-end', result });
  }
  emit({
    type: 'run-end',
    interrupted: signal?.aborted === true,
    milliseconds: performance.now() - begun,
  });
  return results;
}

export function entriesOf(files: readonly GoldenFile[]): ReadonlyMap<string, GoldenFile['entries'][number]> {
  return new Map(files.flatMap(({ entries }) => entries.map((entry) => [entry.id, entry])));
}

/** What the recorded answers were computed in. */
export function dtypeOf(recorded: ReadonlyMap<string, Entry>): DType {
  const said = recorded.get(`${DECLARED}/numbers`)?.said;
  const dtype = said?.kind === 'answer' ? said.fields.dtype : undefined;
  return DTYPES.find((each) => each === dtype) ?? 'float32';
}

const DTYPES: readonly DType[] = ['float64', 'float32', 'bfloat16', 'float16'];

/** Who answers, as the head of a file says it; versions are told and judge nothing. */
export function whoOf({ hello }: Trainer, tokenizer: Fields | undefined): Omit<Head, 'set'> {
  const { name, version, runtime } = hello;
  return {
    trainer: name,
    ...(version === undefined ? {} : { version }),
    ...(runtime === undefined ? {} : { runtime }),
    ...(tokenizer === undefined ? {} : { tokenizer }),
  };
}

/** "Recorded with left-padded 0.1 (python 3.11.2), and is left-padded 0.2 (python 3.12.1) now."; undefined where it is the same. */
export function versionWords(
  files: readonly GoldenFile[],
  trainer: Trainer,
  tokenizer: Fields | undefined,
): string | undefined {
  const words = ({ trainer: name, version, runtime }: Omit<Head, 'set'>): string =>
    [
      name,
      ...(version === undefined ? [] : [version]),
      ...(runtime === undefined ? [] : [`(${runtime})`]),
    ].join(' ');
  const now = words(whoOf(trainer, tokenizer));
  const others = [...new Set(files.map(({ head }) => words(head)))].filter((each) => each !== now);
  return others.length === 0 ? undefined : `Recorded with ${others.join(' and ')}; it is ${now} now.`;
}

// --- helpers ---

/** Nothing is drawn. */
const NO_SEED = 0;
const WHY =
  'After an unintended change, by an upgrade or a refactoring, the same script trains something else.';

function titleOf(golden: GoldenCase | undefined): string {
  return golden === undefined
    ? 'The declarations are the recorded ones'
    : `The answer of op \`${golden.op}\` is the recorded one`;
}

function factsOf(id: string, golden: GoldenCase | undefined): PropertyFacts {
  const stage = (id.split('/')[0] ?? id) as Stage;
  return { id, title: titleOf(golden), stage, level: 'must', why: WHY, catches: [] };
}

/** Why each of them cannot be asked was told when the folder was recorded. */
const UNASKED = 'nothing is recorded, and this trainer cannot be asked';

interface About {
  readonly run: GoldenRun;
  readonly golden: GoldenCase | undefined;
  readonly versions: string | undefined;
}

type Bare = Pick<PropertyResult, 'id' | 'title' | 'level'> & typeof NOT_TRIED;

function resultOf(bare: Bare, judged: Judged, reply: Reply | undefined, about: About): PropertyResult {
  if (judged.state === 'unasked') return { ...bare, verdict: 'unsupported', reason: UNASKED };
  const tried = { ...bare, cases: 1 };
  if (judged.state === 'same') return { ...tried, verdict: 'pass' };
  const args = reply === undefined || reply.kind === 'unasked' ? undefined : reply.args;
  const { trainer, acceptLine } = about.run;
  const failure: Failure = {
    caseId: caseId(bare.id, args ?? {}),
    given: args,
    casesToFail: 1,
    shrinks: 0,
    confirmed: 'not re-run',
    seed: NO_SEED,
    lines:
      args === undefined || about.golden === undefined
        ? []
        : [trainer.helloLine(), trainer.line(about.golden.op, args as never)],
  };
  if (judged.state === 'error')
    return { ...tried, verdict: 'error', failure: { ...failure, trainerFailure: judged.failure } };
  const finding = withWords(judged.finding, about.versions, acceptLine(bare.id));
  return { ...tried, verdict: 'fail', failure: { ...failure, finding } };
}

function withWords(finding: Finding, versions: string | undefined, acceptLine: string): Finding {
  const note = [finding.note, versions].filter((each) => each !== undefined).join(' ');
  return {
    ...finding,
    ...(note === '' ? {} : { note }),
    advice: `Where it is meant, \`${acceptLine}\` takes it; otherwise mend the trainer.`,
  };
}

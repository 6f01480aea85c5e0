// Answers to be written down: asked for twice, of two fresh processes, because what differs between them is no behaviour that
// could be compared with later. Entries that say the same as before keep their text.
import type { World } from '../check/property.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { askAll, type Reply } from './ask.ts';
import { GOLDEN_SET, type GoldenCase } from './case.ts';
import { compared } from './compare.ts';
import { declarations } from './declared.ts';
import { coarserBand } from './differences.ts';
import { type Fields, writtenAnswer, writtenArgs } from './entry.ts';
import { entryOf, type GoldenFile, type WrittenEntry } from './file.ts';
import { judgeCase, judgeDeclared } from './judge.ts';
import { dtypeOf, entriesOf, whoOf } from './run.ts';

export interface Recording {
  /** To be written, in no order. */
  readonly entries: readonly WrittenEntry[];
  /** Ids that cannot be recorded, with a sentence each. */
  readonly troubles: readonly (readonly [id: string, why: string])[];
  /** Ids that this trainer cannot be asked, with a sentence each. */
  readonly unasked: readonly (readonly [id: string, why: string])[];
}

export interface Asking {
  readonly trainer: Trainer;
  readonly world: World;
  readonly tokenizer: Fields | undefined;
  readonly cases: readonly GoldenCase[];
  /** Only entries that it says yes to. */
  readonly wanted: (id: string) => boolean;
  readonly signal?: AbortSignal;
}

/** Where `signal` is aborted the recording is not whole, and must not be written. */
export async function recording(asking: Asking): Promise<Recording> {
  const { trainer, world, tokenizer, signal } = asking;
  const { dtype = 'float32' } = trainer.hello;
  const wanted = asking.cases.filter(({ id }) => asking.wanted(id));
  const entries = declarations(trainer.hello, tokenizer)
    .filter(({ id }) => asking.wanted(id))
    .map(({ id, op, args, said }) => entryOf(id, op, args, said, said.kind === 'answer' ? said.fields : {}));
  const troubles: [string, string][] = [];
  const unasked: [string, string][] = [];
  const first = await replies(asking, wanted);
  const answered = wanted.filter(({ id }) => first.get(id)?.kind === 'said');
  if (answered.length > 0 && signal?.aborted !== true) await trainer.restart();
  const second = await replies(asking, answered);
  for (const golden of wanted) {
    const { id, op } = golden;
    const [reply, again] = [first.get(id), second.get(id)];
    if (reply === undefined) continue;
    if (reply.kind === 'unasked') unasked.push([id, reply.why]);
    else if (reply.kind === 'failure') troubles.push([id, reply.failure.message]);
    else if (again?.kind === 'failure') troubles.push([id, again.failure.message]);
    else if (again?.kind === 'said') {
      const setting = { world, op, args: reply.args, band: coarserBand(world, dtype) };
      const finding = compared(setting, reply.said, again.said);
      if (finding !== undefined)
        troubles.push([
          id,
          `${UNSTABLE}: ${finding.sentence.slice(0, 1).toLowerCase()}${finding.sentence.slice(1)}`,
        ]);
      else {
        const { said, args } = reply;
        const answer = said.kind === 'answer' ? writtenAnswer(op, args, said.fields, dtype) : {};
        entries.push(entryOf(id, op, writtenArgs(op, args), said, answer));
      }
    }
  }
  return { entries, troubles, unasked };
}

/**
 * The files with these entries in them, and without those of `gone`. Entries whose answer is the recorded one within the
 * tolerance stay as they are written; so does a file in which nothing changed. Other files are not among the result.
 */
export function filesWith(
  asking: Asking,
  files: readonly GoldenFile[],
  entries: readonly WrittenEntry[],
  gone: readonly string[] = [],
): GoldenFile[] {
  const { trainer, tokenizer } = asking;
  const head = { set: GOLDEN_SET, ...whoOf(trainer, tokenizer) };
  const stageOf = (id: string): string => id.split('/')[0] ?? id;
  const stages = [...new Set([...entries.map(({ id }) => id), ...gone].map(stageOf))];
  return stages.flatMap((stage) => {
    const old = files.find((file) => file.stage === stage);
    const fresh = new Map(entries.filter(({ id }) => stageOf(id) === stage).map((each) => [each.id, each]));
    const kept = (old?.entries ?? []).filter(({ id }) => !gone.includes(id) && !fresh.has(id));
    const merged = [...fresh.values()].map((each) => unchanged(asking, files, each) ?? each);
    const all = [...kept, ...merged];
    const isAsWas =
      old !== undefined &&
      all.length === old.entries.length &&
      all.every((entry) => old.entries.includes(entry));
    return isAsWas && old.head.set === head.set ? [] : [{ stage, head, entries: all }];
  });
}

// --- helpers ---

const UNSTABLE = 'the answer differs between two fresh processes';

async function replies(
  { trainer, world, signal }: Asking,
  cases: readonly GoldenCase[],
): Promise<Map<string, Reply>> {
  const all = new Map<string, Reply>();
  for await (const [{ id }, reply] of askAll(trainer, world, cases, signal)) all.set(id, reply);
  return all;
}

/** The recorded entry, where the new one says the same. */
function unchanged(
  { world, cases }: Asking,
  files: readonly GoldenFile[],
  fresh: WrittenEntry,
): WrittenEntry | undefined {
  const recorded = entriesOf(files);
  const old = recorded.get(fresh.id);
  if (old === undefined) return undefined;
  const golden = cases.find(({ id }) => id === fresh.id);
  if (golden === undefined) return judgeDeclared(old, fresh).state === 'same' ? old : undefined;
  const args = golden.given(world);
  if (typeof args === 'string') return undefined;
  const reply: Reply = { kind: 'said', said: fresh.said, args: args as Fields };
  return judgeCase(golden, old, reply, world, dtypeOf(recorded)).state === 'same' ? old : undefined;
}

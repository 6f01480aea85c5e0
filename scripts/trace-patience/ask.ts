// One script on one data set: run under `trace`, and what came of it. A script that fails is run again without the tracer: what
// fails then, too, is the script's own, mostly for rows longer than its model has positions.
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';
import type { Tokenizer } from '../../src/tokenizers/tokenizer.ts';
import { type Asked, blamedIn, plain, type Traced, traced } from '../../test/torch/trace/verdicts/run.ts';
import type { Script } from './scripts.ts';
import { LENGTHS, rowsOf } from './sets.ts';

export const ENDS = ['right', 'rightly', 'blamed', 'broken', 'no-verdict', 'failed', 'unread'] as const;
/**
 * right: no blame, and the exit code is as it should be. rightly: blamed for what the data make of it (`RIGHTLY`). blamed: a property fails, or the tracer itself did. broken: it ends
 * well without the tracer only. no-verdict: no blame, another exit code. failed: it fails without the tracer as well. unread: no
 * row of the set is one for it.
 */
export type End = (typeof ENDS)[number];
/** What a right script must never meet. */
export const WRONG: readonly End[] = ['blamed', 'broken'];

export interface Outcome {
  readonly script: string;
  readonly set: string;
  readonly seed: number;
  readonly end: End;
  /** Of blame and troubles one sentence each; else what there is to say. */
  readonly says: readonly string[];
  readonly rows: number;
  /** Longer rows were left out. */
  readonly most: number;
  readonly seconds: number;
  /** Of the tracer and the rules that said so. */
  readonly build: string;
}

export interface Place {
  readonly seed: number;
  readonly build: string;
  /** Where runs that are blamed are left. */
  readonly keep: string | undefined;
}

interface Rightly {
  readonly script?: string;
  readonly set?: string;
  readonly found: string;
}

const RIGHTLY: readonly Rightly[] = [
  // Packing fills rows to the context's length: one that holds a part of a long prompt alone is a step that trains nothing.
  { script: "TRL's SFT with packed rows", found: 'trace/every-step-trains' },
  // Of a single row the one micro-batch is the step: the scheduler comes before the optimiser.
  { script: 'steps: a schedule by micro-batches', found: 'update/schedule-goes-by-steps' },
  // Where rows are alike, or hardly any, a row that is held out is trained, one that is tried out with dropout is the one that is trained next, and
  // each rank has it.
  ...[
    'the same row many times',
    'a single row',
    'two rows of one length',
    'one prompt with other answers',
  ].flatMap((set) =>
    [
      'loader/evaluated-rows-are-not-trained',
      'update/scoring-is-without-dropout',
      'ranks/each-has-other-rows',
    ].map((found) => ({ set, found })),
  ),
  { set: 'one prompt with other answers', found: 'loader/batches-are-new' },
];

/** Rows that a script failed on are too long for it: what follows is asked with as few tokens. */
const longest = new Map<string, number>();

export async function ask(script: Script, set: string, place: Place): Promise<Outcome> {
  const began = performance.now();
  const first = longest.get(script.name) ?? LENGTHS[0];
  let last: Told = { end: 'unread', says: ['no row of this set is one for it'], rows: 0, most: first };
  let before = '';
  for (const most of LENGTHS.filter((length) => length <= first)) {
    const rows = rowsOf(set, { ...script, tokenizer: tokenizerOf(script.family), seed: place.seed, most });
    // The same rows would fail the same way.
    const now = JSON.stringify(rows);
    if (rows.length === 0 || now === before) continue;
    before = now;
    last = { ...(await once(script, set, rows, place)), rows: rows.length, most };
    if (last.end !== 'failed') break;
  }
  const { seed, build } = place;
  const seconds = (performance.now() - began) / 1000;
  const outcome = { script: script.name, set, seed, ...last, seconds, build };
  remember(outcome);
  return outcome;
}

export function remember({ script, end, most }: Outcome): void {
  if (end !== 'failed' && end !== 'unread') longest.set(script, Math.min(most, longest.get(script) ?? most));
}

// --- helpers ---

interface Told extends Pick<Outcome, 'end' | 'says'> {
  readonly rows: number;
  readonly most: number;
}

const SECONDS = 300;
const SHOWN = 300;

async function once(
  script: Script,
  set: string,
  data: readonly unknown[],
  { keep }: Place,
): Promise<Pick<Outcome, 'end' | 'says'>> {
  const folder = mkdtempSync(join(tmpdir(), 'patience '));
  const asked: Asked = { words: script.words, data, options: `${script.options} --keep-going`.trim() };
  const run = await traced(asked, { folder, seconds: SECONDS });
  const told = await judged(run, { ...script, set }, asked, folder);
  if (keep !== undefined && told.end !== 'right' && told.end !== 'failed') {
    const left = join(keep, `${script.name} on ${set}`.replaceAll(/[^\w ]+/g, '_'));
    mkdirSync(keep, { recursive: true });
    rmSync(left, { recursive: true, force: true });
    renameSync(folder, left);
    return { ...told, says: [...told.says, `left in ${left}`] };
  }
  rmSync(folder, { recursive: true, force: true });
  return told;
}

async function judged(
  run: Traced,
  { name, nothing, set }: Script & { readonly set: string },
  asked: Asked,
  folder: string,
): Promise<Pick<Outcome, 'end' | 'says'>> {
  const says = [
    ...blamedIn(run).map(([id, sentence]) => `${id}: ${sentence}`),
    ...run.ledger.processes.flatMap(({ troubles }) =>
      troubles.map(({ where, traceback }) => `tracer, at ${where}: ${traceback.trim().split('\n').at(-1)}`),
    ),
  ];
  const known = RIGHTLY.filter(
    (each) => [name, undefined].includes(each.script) && [set, undefined].includes(each.set),
  );
  if (says.length > 0 && says.every((each) => known.some(({ found }) => each.startsWith(`${found}: `))))
    return { end: 'rightly', says };
  if (says.length > 0) return { end: 'blamed', says };
  if (run.exitCode === (nothing ? 2 : 0)) return { end: 'right', says };
  const why = lastLines(run.out);
  if (run.exitCode === undefined) return { end: 'no-verdict', says: [`it took more than ${SECONDS} s`] };
  if (!/The script failed by itself/.test(run.out.replaceAll(/\s+/g, ' ')))
    return { end: 'no-verdict', says: [`exit code ${run.exitCode}: ${why}`] };
  const alone = await plain(asked, { folder, seconds: SECONDS });
  return alone.exitCode === 0
    ? { end: 'broken', says: [`it fails under the tracer only: ${why}`] }
    : { end: 'failed', says: [errorOf(alone.out)] };
}

const lastLines = (out: string): string => out.trim().replaceAll(/\s+/g, ' ').slice(-SHOWN);

const errorOf = (out: string): string =>
  out
    .split('\n')
    .filter((line) => /^\S*(Error|Exception)\b/.test(line.replace(/^\[rank\d+\]: /, '')))
    .at(-1)
    ?.slice(0, SHOWN) ?? lastLines(out);

const tokenizers = new Map<string, Tokenizer>();

function tokenizerOf(family: string): Tokenizer {
  const known = tokenizers.get(family);
  if (known !== undefined) return known;
  const loaded = loadTokenizer(familyFolder(family));
  if ('problem' in loaded) throw new Error(loaded.problem);
  tokenizers.set(family, loaded.tokenizer);
  return loaded.tokenizer;
}

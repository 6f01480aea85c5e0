// The folder of a `lossproof trace` run as rollouts: what was sampled, with the log-probabilities it was sampled with, and what the trainer's first
// backward pass over the same tokens gave. Both sides are of the run itself: nothing is written to a file of rollouts.
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Recorded } from '../../gap/read/read.ts';
import type { Generation, Ledger, LedgerRow } from '../../trace/ledger.ts';
import { ledgerOf } from '../../trace/ledger-of.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { readTraceFolder } from '../trace/folder.ts';
import type { Read } from './rollouts.ts';

export function isFolder(named: string, { cwd }: Context): boolean {
  return statSync(resolve(cwd, named), { throwIfNoEntry: false })?.isDirectory() === true;
}

export function readTraced(folder: string, context: Context): Read | Problem {
  const files = readTraceFolder(folder, context);
  if (isProblem(files))
    return {
      problem: `${files.problem}; name files of rollouts one by one, as in ${join(folder, '*.jsonl')}`,
    };
  const ledger = ledgerOf(files.processes);
  const rollouts = rolloutsIn(ledger);
  if (rollouts.length > 0) return { rollouts, leftOut: { rows: 0, first: undefined } };
  return { problem: `${folder} holds no rollouts to compare: ${whyNone(ledger)}` };
}

// --- helpers ---

/** Each completion once, as it was first trained. */
function rolloutsIn(ledger: Ledger): readonly Recorded[] {
  const known = new Set<number>();
  return ledger.rows.flatMap((row): Recorded[] => {
    const { origin, completions } = row.spans;
    const [at, ...others] = origin.kind === 'generation' ? origin.generations : [];
    const [place] = completions;
    // Of turns that were sampled one after the other, each has another prompt.
    if (at === undefined || others.length > 0 || completions.length !== 1 || place === undefined) return [];
    const generation = ledger.generations[at];
    if (generation?.logprobs === undefined || known.has(at)) return [];
    const trainer = trainerOf(row, place.from, generation);
    if (!trainer.some(Number.isFinite)) return [];
    known.add(at);
    return [rolloutOf(generation, trainer, row)];
  });
}

function rolloutOf(generation: Generation, trainer: readonly number[], row: LedgerRow): Recorded {
  const { promptIds, completionIds, logprobs = [], step, source = 'generate' } = generation;
  const isKnown = (at: number): boolean => Number.isFinite(logprobs[at]) && Number.isFinite(trainer[at]);
  const columnOf = (values: readonly number[]): Float64Array =>
    Float64Array.from(completionIds, (_, at) => (isKnown(at) ? Math.min(0, values[at] ?? 0) : 0));
  return {
    prompt: promptIds,
    ids: completionIds,
    sampling: columnOf(logprobs),
    trainer: columnOf(trainer),
    written: isKnown,
    version: () => step,
    step: row.step,
    where: `step ${row.step}, row ${row.row}`,
    names: { sampling: source === 'generate' ? 'generate()' : source, trainer: 'the backward pass' },
  };
}

/** At the temperature that the loss divides by; NaN where a token was not trained, or its weight is 0. */
function trainerOf(
  { trained, ids }: LedgerRow,
  from: number,
  { completionIds }: Generation,
): readonly number[] {
  return completionIds.map((id, at) => {
    const entry = trained[from + at];
    return entry?.target === id && ids[from + at] === id ? (entry.logprob ?? Number.NaN) : Number.NaN;
  });
}

function whyNone({ generations, rows }: Ledger): string {
  if (generations.length === 0) return 'nothing was sampled where the tracer sees it';
  if (generations.every(({ logprobs }) => logprobs === undefined))
    return 'what was sampled has no log-probabilities; sampling by generate() has them, and engines and servers that were asked for them (logprobs=0 in vLLM)';
  if (!rows.some(({ spans }) => spans.origin.kind === 'generation'))
    return 'no row that was trained is one of the completions';
  return "the trainer's log-probabilities of its tokens were not measured: trace it without --mode cheap, and with rewards that differ";
}

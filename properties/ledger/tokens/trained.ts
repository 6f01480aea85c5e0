// What the ledger saw of one token as a target, and what that is worth as evidence. All rules about tokens ask here.
import { explains, isOpen, type Ledger, type LedgerRow, realIds, type Trained } from '../../../src/index.ts';
import { commonStart } from '../input/kin.ts';

/**
 * `yes`: a gradient towards one target, or towards a teacher's distribution. `no`: no gradient. `unclear`: a gradient that no single target explains, as an
 * entropy bonus or a distillation has it; such a term may stand at any token.
 */
export type Seen = 'yes' | 'no' | 'unclear';

export function seenAt(row: LedgerRow, column: number): Seen {
  const each = row.trained[column];
  if (each === undefined || each.weight === 0) return 'no';
  if (each.taught !== undefined) return 'yes';
  if (isOpen(each)) return 'unclear';
  return explained(row, each) ? 'yes' : 'unclear';
}

/** Why a rule about targets sets a case aside where all that it looks at is `unclear`. */
export const UNEXPLAINED = 'no single target explains the gradient';

/** One target explains the gradient, as far as it was measured. */
export const explained = ({ dtype }: LedgerRow, each: Trained): boolean => explains(each, dtype) !== false;

/**
 * The gradient of a target this likely is so small that a half-precision backward pass may lose it: its absence says
 * nothing of a mask. Log-probability, natural.
 */
export function lostInRounding({ trained, logprobs }: LedgerRow, column: number): boolean {
  const logprob = trained[column]?.logprob ?? logprobs?.[column];
  return logprob !== undefined && logprob > CERTAIN;
}

const CERTAIN = -1e-4;

/**
 * Most of its targets are not the tokens that follow. Such a row is shifted or trained as another: which of its tokens
 * are trained says nothing of a mask then, and the rule about targets has it.
 */
export function isOffTarget(row: LedgerRow): boolean {
  let [right, wrong] = [0, 0];
  for (const [t, id] of row.ids.entries()) {
    const each = row.trained[t];
    if (each?.target === undefined || seenAt(row, t) !== 'yes') continue;
    if (each.target === id) right++;
    else wrong++;
  }
  return wrong > right;
}

/**
 * Nothing explains most of what its forward pass trains. Where the distribution of a teacher is taught in a form that is not
 * known, the few positions at which the teacher is sure of one token look like targets.
 */
export function mostlyOpen({ rows }: Ledger, { rank, forward }: LedgerRow): boolean {
  const trained = rows
    .filter((row) => row.rank === rank && row.forward === forward)
    .flatMap((row) => row.trained.filter((each) => each !== undefined && each.weight !== 0));
  return trained.filter((each) => each !== undefined && isOpen(each)).length * 2 > trained.length;
}

/** Whether anything behind this column was trained: only then does it matter how the model saw this one. */
export function mattersBehind(row: LedgerRow, column: number): boolean {
  for (let t = column + 1; t < row.trained.length; t++) if (seenAt(row, t) !== 'no') return true;
  return false;
}

/** Something of the row was trained. */
export const trainsAny = (row: LedgerRow): boolean => mattersBehind(row, -1);

/** Its completions were sampled by generate() calls that the trace recorded. */
export const isSampled = ({ spans }: LedgerRow): boolean => spans.origin.kind === 'generation';

/** It is a row of a data set of answers, known by the data set given or by the marks of the chat template. */
export const isTaught = ({ spans }: LedgerRow): boolean =>
  spans.origin.kind === 'dataset' || spans.origin.kind === 'template';

/** Of a rule about sampled rows: what is missing where the ledger has none. */
export const needsSampled = (ledger: Ledger): string | undefined =>
  needsRows(ledger, isSampled, withoutSampled(ledger));

/** Why no trained row is known to be sampled. */
export function withoutSampled({ generations, rows }: Ledger): string {
  if (generations.length === 0)
    return 'nothing was seen that samples: no generate() call, no loop that feeds back what it drew, no engine or server that answers token ids';
  const reached = rows.filter((row) => row.reached).map((row) => realIds(row));
  const sampled = generations.map(({ promptIds, completionIds }) => [...promptIds, ...completionIds]);
  let nearest = { start: 0, of: sampled[0]?.length ?? 0 };
  for (const ids of reached.slice(0, MOST_COMPARED))
    for (const each of sampled.slice(-MOST_COMPARED)) {
      const start = commonStart(ids, each);
      if (start > nearest.start) nearest = { start, of: each.length };
    }
  const near =
    nearest.start === 0
      ? 'none even begins like one'
      : `the nearest is like one for its first ${nearest.start} of ${nearest.of} tokens`;
  return `${generations.length} ${generations.length === 1 ? 'sequence was' : 'sequences were'} sampled, and none stands in a trained row: ${near}`;
}

/** Rows, and sequences: all pairs of them are looked at. */
const MOST_COMPARED = 200;

/** Of a rule about rows of a data set. */
export const needsTaught = (ledger: Ledger): string | undefined =>
  needsRows(
    ledger,
    isTaught,
    'no trained row is known to hold a prompt and an answer: the marks of a chat template are in none; --dataset FILE names the data',
  );

/** Of a rule about any row. */
export const needsTrained = (ledger: Ledger): string | undefined => needsRows(ledger, () => true, '');

function needsRows(
  { rows }: Ledger,
  which: (row: LedgerRow) => boolean,
  sentence: string,
): string | undefined {
  const reached = rows.filter((row) => row.reached);
  if (reached.length === 0) return 'no backward pass reached a row that the trace saw';
  return reached.some(which) ? undefined : sentence;
}

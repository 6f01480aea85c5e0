// Where prompt and completion stand in the trainer's own row, and which of its tokens may be trained. The row is
// searched for the ids that the case is made of; nothing is inferred from pad or eos ids, which may be equal.
import type { Ids, Role } from '../../vocabulary.ts';
import { at } from '../shape.ts';

/** Columns of one row, (T,). */
export interface RowPlan {
  promptStart: number;
  /** locateRow always says it. Absent: the prompt reaches up to the completion. */
  promptLength?: number;
  completionStart: number;
  completionLength: number;
  /** Other columns fit as well, and no attention mask says which: prompt or completion is made of pad ids. */
  ambiguous?: true;
  /** Column of the completion's first stop token; undefined when it has none or no stop ids were given. */
  stop: number | undefined;
}

/**
 * Finds prompt and then completion, each whole, in a row (T,) whose other columns are all `pad`. Padding may stand
 * before, behind and between them. undefined: the row is no such arrangement, so tokens were lost, added or changed.
 *
 * Where pad is also a token of prompt or completion, several arrangements can fit. The one that `attention`
 * describes (1 on exactly prompt and completion) wins; then the plainest: the smallest gap between them,
 * then the least padding on the right. Where other columns fit as well as the chosen ones, the plan is ambiguous: without
 * `attention` any others do, and a check should say nothing.
 */
export function locateRow(
  row: Ids,
  attention: Ids | undefined,
  prompt: Ids,
  completion: Ids,
  pad: number,
  stops: ReadonlySet<number> = NO_STOPS,
): RowPlan | undefined {
  const plain = attention === undefined ? undefined : plainRow(row, attention, prompt, completion, pad);
  if (plain !== undefined) return planOf(plain, plain + prompt.length, prompt, completion, stops);
  // Two disjoint matches hold all that is not padding exactly when the counts agree.
  const tokens = (ids: Ids): number => ids.filter((id) => id !== pad).length;
  if (tokens(row) !== tokens(prompt) + tokens(completion)) return undefined;
  const realBefore = attention?.length === row.length ? runningCount(attention) : undefined;

  let best: { plan: RowPlan; rank: readonly number[] } | undefined;
  let equals = 0;
  const completionStarts = ofBothEnds(matches(row, completion));
  for (const promptStart of ofBothEnds(matches(row, prompt))) {
    // An empty completion stands everywhere and means the same.
    const starts = completion.length === 0 ? [promptStart + prompt.length] : completionStarts;
    for (const completionStart of starts) {
      const gap = completionStart - promptStart - prompt.length;
      if (gap < 0) continue;
      const end = completionStart + completion.length;
      const agrees =
        realBefore !== undefined &&
        between(realBefore, 0, row.length) === prompt.length + completion.length &&
        between(realBefore, promptStart, promptStart + prompt.length) === prompt.length &&
        between(realBefore, completionStart, end) === completion.length;
      const right = row.length - end;
      const rank = [agrees ? 0 : 1, gap, right];
      // A mask that fits none is wrong itself, and then the plainest reading is good enough to say so.
      if (rank[0] === 1 && (gap === 0 || (attention === undefined && completion.length > 0))) equals++;
      if (best !== undefined && !precedes(rank, best.rank)) continue;
      best = { plan: planOf(promptStart, completionStart, prompt, completion, stops), rank };
    }
  }
  return best !== undefined && best.rank[0] === 1 && equals > 1
    ? { ...best.plan, ambiguous: true }
    : best?.plan;
}

const NO_STOPS: ReadonlySet<number> = new Set();

/** All pairs of places are compared, so a very long row of one token is searched near its two ends only. */
const ofBothEnds = (places: readonly number[]): readonly number[] =>
  places.length <= MOST_PLACES
    ? places
    : [...places.slice(0, MOST_PLACES / 2), ...places.slice(-MOST_PLACES / 2)];
const MOST_PLACES = 2 ** 12;

function planOf(
  promptStart: number,
  completionStart: number,
  prompt: Ids,
  completion: Ids,
  stops: ReadonlySet<number>,
): RowPlan {
  const first = firstStop(completion, stops);
  const stop = first === undefined ? undefined : completionStart + first;
  const [promptLength, completionLength] = [prompt.length, completion.length];
  return { promptStart, promptLength, completionStart, completionLength, stop };
}

/** The prompt's column where the row is exactly as the attention mask says, without a gap: by far the most rows. */
function plainRow(row: Ids, attention: Ids, prompt: Ids, completion: Ids, pad: number): number | undefined {
  const start = attention.indexOf(1);
  const middle = start + prompt.length;
  const end = middle + completion.length;
  if (start < 0 || end > row.length || attention.length !== row.length) return undefined;
  for (let column = 0; column < row.length; column++) {
    const real = column >= start && column < end;
    const id = !real ? pad : column < middle ? prompt[column - start] : completion[column - middle];
    if (row[column] !== id || attention[column] !== (real ? 1 : 0)) return undefined;
  }
  return start;
}

/** What each column of the located row is, (width,): the first of `eosIds` in the completion is its stop. */
export function rolesOf(
  plan: RowPlan,
  width: number,
  eosIds: Ids | ReadonlySet<number>,
  completion: Ids,
): Role[] {
  const stop = firstStop(completion, eosIds instanceof Set ? eosIds : new Set(eosIds));
  const promptEnd =
    plan.promptLength === undefined ? plan.completionStart : plan.promptStart + plan.promptLength;
  return Array.from({ length: width }, (_, column): Role => {
    const index = column - plan.completionStart;
    if (index >= 0 && index < plan.completionLength) {
      if (stop === undefined || index < stop) return 'completion';
      return index === stop ? 'stop' : 'after stop';
    }
    return column >= plan.promptStart && column < promptEnd ? 'prompt' : 'padding';
  });
}

/**
 * completion_mask of the located row, (width,): 1 on the completion's tokens up to its first stop token, that
 * one included when `stopInMask`; 0 on prompt, padding and whatever follows the stop (bugs EOS-03, EOS-05, MSK-01).
 * A completion without a stop token was cut off by its length and is 1 throughout.
 */
export function expectedMask(
  plan: RowPlan,
  width: number,
  options: {
    readonly stopInMask: boolean;
    readonly stops: ReadonlySet<number>;
    readonly completion: Ids;
  },
): number[] {
  return rolesOf(plan, width, options.stops, options.completion).map((role) =>
    role === 'completion' || (role === 'stop' && options.stopInMask) ? 1 : 0,
  );
}

/** Index of the first stop token in the completion, or undefined. */
function firstStop(completion: Ids, stops: ReadonlySet<number>): number | undefined {
  const index = completion.findIndex((id) => stops.has(id));
  return index < 0 ? undefined : index;
}

/** Every column at which `part` stands in `row`; an empty part stands everywhere. */
function matches(row: Ids, part: Ids): number[] {
  const columns: number[] = [];
  for (let start = 0; start + part.length <= row.length; start++) {
    if (part.every((id, i) => row[start + i] === id)) columns.push(start);
  }
  return columns;
}

/** Number of ones before each column, (T + 1,). */
function runningCount(attention: Ids): number[] {
  const counts = [0];
  for (const real of attention) counts.push(at(counts, counts.length - 1) + (real === 1 ? 1 : 0));
  return counts;
}

function between(counts: readonly number[], start: number, end: number): number {
  return at(counts, end) - at(counts, start);
}

function precedes(a: readonly number[], b: readonly number[]): boolean {
  const difference = a.map((x, i) => x - at(b, i)).find((d) => d !== 0);
  return difference !== undefined && difference < 0;
}

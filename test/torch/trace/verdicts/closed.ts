// What a script must have trained, computed from its data and its settings alone: targets, and weights in closed form.
// It shares no code with the tracer, the ledger or the properties.
import { familyFolder, loadTokenizer } from '../../../../src/tokenizers/load.ts';
import type { Tokenizer } from '../../../../src/tokenizers/tokenizer.ts';
import type { Ledger, LedgerRow } from '../../../../src/trace/ledger.ts';

export interface Turn {
  readonly role: string;
  readonly content: string;
}
export interface Example {
  readonly messages?: readonly Turn[];
  readonly prompt?: string;
  readonly completion?: string;
  readonly chosen?: string;
  readonly rejected?: string;
  readonly text?: string;
}

/** One token of a row as it should be: trained or not. */
interface Laid {
  readonly ids: readonly number[];
  /** Ids that are trained, in the row's order. */
  readonly trained: readonly number[];
}

/** A token that a row trained, and how much. */
export interface Pushed {
  readonly at: number;
  readonly id: number | undefined;
  readonly weight: number;
}

const STOP = '<|im_end|>';

export function tokenizerOf(family: string): Tokenizer {
  const loaded = loadTokenizer(familyFolder(family));
  if ('problem' in loaded) throw new Error(loaded.problem);
  return loaded.tokenizer;
}

/** ChatML of which the assistant's words and the token behind them are trained; a completion and its stop; a text, whole. */
export function laid(example: Example, tokenizer: Tokenizer): Laid {
  const ids: number[] = [];
  const trained: number[] = [];
  const add = (text: string, is: boolean): void => {
    const piece = tokenizer.encode(text);
    ids.push(...piece);
    if (is) trained.push(...piece);
  };
  for (const { role, content } of example.messages ?? []) {
    add(`<|im_start|>${role}\n`, false);
    add(content + STOP, role === 'assistant');
    add('\n', false);
  }
  if (example.prompt !== undefined) add(example.prompt, false);
  if (example.completion !== undefined) add(example.completion + STOP, true);
  if (example.text !== undefined) add(example.text, true);
  return { ids, trained };
}

/** What a row pushed, from the left; tokens without a weight are left out. */
export function pushed(row: LedgerRow): readonly Pushed[] {
  return row.trained.flatMap((token, at) =>
    token === undefined || token.weight === 0
      ? []
      : [{ at, id: token.target, weight: token.weight ?? Number.NaN }],
  );
}

/** The largest distance of weights from what they should be, relative to the largest of those. */
export function farthest(seen: readonly number[], due: readonly number[]): number {
  if (seen.length !== due.length) return Number.POSITIVE_INFINITY;
  const scale = Math.max(...due.map(Math.abs), Number.MIN_VALUE);
  const gaps = seen.map((weight, at) => Math.abs(weight - (due[at] ?? Number.NaN)) / scale);
  return gaps.some(Number.isNaN) ? Number.NaN : Math.max(0, ...gaps);
}

/** Rows by the step that they were trained in. */
export function rowsOfSteps(ledger: Ledger): readonly (readonly LedgerRow[])[] {
  const steps = [...new Set(ledger.rows.map(({ step }) => step))].sort((a, b) => a - b);
  return steps.map((step) => ledger.rows.filter((row) => row.step === step));
}

export const realOf = (row: {
  readonly ids: readonly number[];
  readonly real: readonly boolean[];
}): number[] => row.ids.filter((_, at) => row.real[at]);

/** A completion's row beside what was sampled: its group, and what its reward is. */
export interface Sampled {
  readonly row: LedgerRow;
  /** Ids, through the stop token where there is one. */
  readonly completion: readonly number[];
  readonly reward: number;
  /** Rewards of its group, its own included. */
  readonly group: readonly number[];
}

/** `reward` of the scripts: the sum of the ids, modulo 7. */
export const rewardOf = (ids: readonly number[]): number => ids.reduce((sum, id) => sum + id, 0) % 7;

/** Rows of a step, each with the generation whose prompt and completion it holds. */
export function sampledIn(rows: readonly LedgerRow[], ledger: Ledger): readonly Sampled[] {
  const free = new Set(ledger.generations.filter(({ step }) => step === rows[0]?.step));
  const known = rows.map((row) => {
    const ids = realOf(row);
    const generation = [...free].find(({ promptIds, completionIds }) => {
      const sampled = [...promptIds, ...completionIds];
      // A model this random ends a row with pads that it sampled; they look like padding, but the row has them.
      return sampled.every((id, at) => ids[at] === id) && ids.slice(sampled.length).every((id) => id === PAD);
    });
    if (generation === undefined) throw new Error(`no generation has the ids ${ids.join(' ')}`);
    free.delete(generation);
    return { row, prompt: generation.promptIds.join(), completion: ids.slice(generation.promptIds.length) };
  });
  return known.map(({ row, prompt, completion }) => ({
    row,
    completion,
    reward: rewardOf(completion),
    group: known.filter((other) => other.prompt === prompt).map((other) => rewardOf(other.completion)),
  }));
}

/** Of the scripts' tokenizer of letters. */
const PAD = 0;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / values.length;

/** (r - mean) / (standard deviation + 1e-4), of n - 1: Shao et al. 2024, "DeepSeekMath", section 4.1.2. */
export function groupAdvantage({ reward, group }: Sampled): number {
  const centre = mean(group);
  const variance = group.reduce((sum, each) => sum + (each - centre) ** 2, 0) / (group.length - 1);
  return (reward - centre) / (Math.sqrt(variance) + 1e-4);
}

/** r less the mean of the group's others: Ahmadian et al. 2024, "Back to Basics", equation 7. */
export function leaveOneOut({ reward, group }: Sampled): number {
  return reward - (group.reduce((sum, each) => sum + each, 0) - reward) / (group.length - 1);
}

/** Log-probability of the row's last `count` real tokens. */
export function lastLogprobs(
  row: {
    readonly ids: readonly number[];
    readonly real: readonly boolean[];
    readonly logprobs?: readonly number[];
  },
  count: number,
): readonly number[] {
  return (row.logprobs ?? row.ids.map(() => Number.NaN)).filter((_, at) => row.real[at]).slice(-count);
}

// What a traced run is held to: targets that are exactly those of the data, weights that are the closed form of the method.
import { expect } from 'vitest';
import type { Ledger, LedgerRow, RowIds } from '../../../../src/trace/ledger.ts';
import {
  type Example,
  farthest,
  groupAdvantage,
  laid,
  lastLogprobs,
  pushed,
  realOf,
  rowsOfSteps,
  type Sampled,
  sampledIn,
  tokenizerOf,
} from './closed.ts';
import type { Traced } from './run.ts';

export type Exact = (run: Traced) => void;

/** Relative, in float32. */
const CLOSE = 1e-5;

/**
 * Each row trains what its example says, and each token of a step weighs the same: one over the step's tokens, or `share` of
 * that where the rest of the loss is another's.
 */
export function tokenMean(examples: readonly Example[], close = CLOSE, share = 1): Exact {
  const tokenizer = tokenizerOf('qwen');
  const all = examples.map((example) => laid(example, tokenizer));
  return ({ ledger }) => {
    expect(ledger.rows.length).toBeGreaterThan(0);
    for (const rows of rowsOfSteps(ledger)) {
      const due = rows.map((row) => {
        const found = all.find(({ ids }) => sameExample(realOf(row), ids));
        if (found === undefined) throw new Error(`no example has the ids ${realOf(row).join(' ')}`);
        return found.trained;
      });
      expect(rows.map((row) => pushed(row).map(({ id }) => id))).toEqual(due);
      const seen = rows.flatMap(pushed).map(({ weight }) => weight);
      expect(
        farthest(
          seen,
          seen.map(() => share / due.flat().length),
        ),
      ).toBeLessThan(close);
    }
  };
}

/** The same of rows that hold several examples each: tokens in whatever order. */
export function packed(examples: readonly Example[]): Exact {
  const tokenizer = tokenizerOf('qwen');
  const due = examples.flatMap((example) => laid(example, tokenizer).trained);
  return ({ ledger }) => {
    const steps = rowsOfSteps(ledger);
    const ids = steps.flat().flatMap((row) => pushed(row).map(({ id }) => id));
    expect(ids.toSorted()).toEqual(due.toSorted());
    for (const rows of steps) {
      const seen = rows.flatMap(pushed).map(({ weight }) => weight);
      expect(
        farthest(
          seen,
          seen.map(() => 1 / seen.length),
        ),
      ).toBeLessThan(CLOSE);
    }
  };
}

/** What one token of a completion is multiplied by. */
type Norm = (sampled: Sampled, step: readonly Sampled[]) => number;
const tokensOf = ({ completion }: Sampled): number => completion.length;
const LONGEST_COMPLETION = 8;
export const NORMS = {
  'token-mean': (_: Sampled, step: readonly Sampled[]) =>
    1 / step.reduce((sum, each) => sum + tokensOf(each), 0),
  'seq-mean-token-mean': (sampled: Sampled, step: readonly Sampled[]) =>
    1 / (step.length * tokensOf(sampled)),
  'seq-mean-token-sum': (_: Sampled, step: readonly Sampled[]) => 1 / step.length,
  constant: (_: Sampled, step: readonly Sampled[]) => 1 / (step.length * LONGEST_COMPLETION),
} satisfies Readonly<Record<string, Norm>>;

/**
 * Each sampled token weighs its completion's advantage and, with a reference, beta times the slope of k3: exp(d) - 1 with
 * d = ref - logp, or d itself where k3 is multiplied by the ratio (`corrected`). d is only to be had at temperature 1.
 */
export function policy(
  norm: Norm,
  { beta = 0, corrected = false, temperature = 0.7, advantage = groupAdvantage, close = CLOSE } = {},
): Exact {
  return ({ ledger }) => {
    const steps = rowsOfSteps(ledger);
    expect(steps).toHaveLength(2);
    for (const rows of steps) {
      const step = sampledIn(rows, ledger);
      expect(step.some(({ reward, group }) => group.some((other) => other !== reward))).toBe(true);
      const due = step.map((sampled) => {
        const factor = norm(sampled, step);
        const slopes =
          beta === 0
            ? sampled.completion.map(() => 0)
            : gapsOf(sampled, ledger).map((gap) => (corrected ? gap : Math.exp(gap) - 1));
        return slopes.map((slope) => factor * (advantage(sampled) + beta * slope));
      });
      const seen = step.map(({ row, completion }) => lastWeights(row, completion.length));
      expect(farthest(seen.flat(), due.flat())).toBeLessThan(close);
      for (const { row, completion } of step) {
        const those = pushed(row);
        if (those.length === 0) continue;
        expect(those.map(({ id }) => id)).toEqual(completion);
        const measured = those.flatMap(({ at }) => row.trained[at]?.temperature ?? []);
        for (const each of measured.filter((value) => !Number.isNaN(value)))
          expect(each).toBeCloseTo(temperature, 2);
      }
    }
  };
}

/** Of pairs (chosen, rejected): beta times sigmoid(-margin) over the pairs, Rafailov et al. 2023, equation 7. */
export function preference(examples: readonly Example[], beta: number): Exact {
  const tokenizer = tokenizerOf('qwen');
  return ({ ledger }) => {
    expect(ledger.rows.length).toBeGreaterThan(0);
    for (const rows of rowsOfSteps(ledger)) {
      const pairs = rows.length / 2;
      for (const { prompt = '', chosen = '', rejected = '' } of examples) {
        const halves = [chosen, rejected].map((completion) => laid({ prompt, completion }, tokenizer));
        const held = halves.map(({ ids }) => rows.find((row) => realOf(row).join() === ids.join()));
        const [good, bad] = held;
        if (good === undefined || bad === undefined) continue;
        expect(held.map((row) => pushed(row as LedgerRow).map(({ id }) => id))).toEqual(
          halves.map(({ trained }) => trained),
        );
        const [above, below] = [good, bad].map((row, at) =>
          gainOf(row, ledger, halves[at]?.trained.length ?? 0),
        );
        const pull = beta / (1 + Math.exp(beta * ((above ?? 0) - (below ?? 0)))) / pairs;
        const weights = (row: LedgerRow): number[] => pushed(row).map(({ weight }) => weight);
        for (const [row, due] of [
          [good, pull],
          [bad, -pull],
        ] as const)
          expect(
            farthest(
              weights(row),
              weights(row).map(() => due),
            ),
          ).toBeLessThan(CLOSE);
      }
    }
  };
}

// --- helpers ---

/** The same ids, with or without the end of the last line, which a template may write. */
const sameExample = (row: readonly number[], ids: readonly number[]): boolean =>
  Math.abs(row.length - ids.length) <= 1 && row.every((id, at) => at >= ids.length || id === ids[at]);

function lastWeights(row: LedgerRow, count: number): readonly number[] {
  const real = row.ids.map((_, at) => at).filter((at) => row.real[at]);
  return real.slice(-count).map((at) => row.trained[at]?.weight ?? 0);
}

/** The reference's row with the same tokens. */
function referenceOf(row: RowIds, ledger: Ledger): RowIds {
  const key = realOf(row).join();
  const found = ledger.scored.find(
    (other) => other.by === 'reference' && other.step === row.step && realOf(other).join() === key,
  );
  if (found === undefined) throw new Error(`the reference never saw ${key}`);
  return found;
}

/** ref - logp of each token of a completion. */
function gapsOf({ row, completion }: Sampled, ledger: Ledger): readonly number[] {
  const count = completion.length;
  const theirs = lastLogprobs(referenceOf(row, ledger), count);
  return lastLogprobs(row, count).map((own, at) => (theirs[at] ?? Number.NaN) - own);
}

/** Log-probability of a row's last tokens, less the reference's. */
function gainOf(row: LedgerRow, ledger: Ledger, count: number): number {
  const sum = (of: RowIds): number => lastLogprobs(of, count).reduce((total, each) => total + each, 0);
  return sum(row) - sum(referenceOf(row, ledger));
}

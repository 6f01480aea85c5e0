// The oracles against torch in float64: values, and gradients by autograd, on the same random cases.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  advantageVariants,
  balanceLoss,
  close,
  entropyOf,
  groupAdvantages,
  klOfRow,
  klPerToken,
  klTerm,
  logprobsOf,
  logSumExp,
  padRows,
  penalize,
  policyLoss,
  positionIds,
  sftLoss,
  unpairedLoss,
} from '../../src/reference/index.ts';
import {
  balanceInput,
  balanceSettings,
  klVariant,
  lossSettings,
  objectiveSettings,
  penalised,
  policyLossInput,
  ragged,
  rewardGroups,
  scoring,
  unpairedLossInput,
  unpairedLossSettings,
} from '../reference/cases.ts';

const SEED = 20260101;
/** Of each stage; the whole comparison takes seconds, most of them torch's import. */
const CASES = 100;
const BAND = { absolute: 1e-9, relative: 1e-9, reason: 'both compute in float64' };

type Nested = number | boolean | readonly Nested[] | { readonly [key: string]: Nested };
interface Comparison {
  /** What Python is given. */
  readonly asked: { readonly stage: string } & Readonly<Record<string, unknown>>;
  /** What the reference says, in the shape of Python's answer. */
  readonly expected: Nested;
}

const comparisons: Comparison[] = [
  ...drawn(scoring, ({ logits, ids, temperature }) => ({
    asked: { stage: 'logprobs', logits, ids, temperature },
    expected: {
      logprobs: logprobsOf(logits, ids, temperature).map((row) => row.slice(1)),
      entropy: logits.map((row) => row.map(entropyOf)),
      log_sum_exp: logits.map((row) => row.map(logSumExp)),
    },
  })),
  ...drawn(fc.tuple(policyLossInput, klVariant), ([{ logprobs, old_logprobs, ref_logprobs }, variant]) => ({
    asked: { stage: 'kl', logprobs, old_logprobs, ref_logprobs, variant },
    expected: {
      kl: klPerToken(logprobs, ref_logprobs, old_logprobs, variant),
      slopes: logprobs.map((row, b) =>
        row.map((logprob, t) => {
          const [ref, old] = [ref_logprobs[b]?.[t] ?? Number.NaN, old_logprobs[b]?.[t] ?? Number.NaN];
          if (variant.ofRow === undefined) return klTerm(logprob, ref, old, variant).slope;
          return klOfRow(
            row,
            ref_logprobs[b] ?? [],
            row.map(() => 1),
            variant,
          ).slope;
        }),
      ),
    },
  })),
  ...drawn(fc.tuple(policyLossInput, lossSettings), ([input, settings]) => ({
    asked: { stage: 'loss', ...input, settings },
    expected: { ...policyLoss(input, settings) },
  })),
  ...drawn(fc.tuple(policyLossInput, objectiveSettings), ([input, settings]) => ({
    asked: { stage: 'other objectives', ...input, settings },
    expected: { ...policyLoss(input, settings) },
  })),
  ...drawn(scoring, ({ logits, labels }) => ({
    asked: { stage: 'sft_loss', logits, labels },
    expected: { ...sftLoss(logits, labels) },
  })),
  ...drawn(fc.tuple(unpairedLossInput, unpairedLossSettings), ([input, settings]) => ({
    asked: { stage: 'unpaired_preference_loss', ...input, settings },
    expected: { ...unpairedLoss(input, settings) },
  })),
  ...drawn(fc.tuple(balanceInput, balanceSettings), ([input, settings]) => ({
    asked: { stage: 'balance_loss', ...input, settings },
    expected: { ...balanceLoss(input, settings) } as unknown as Nested,
  })),
  ...drawn(
    fc.tuple(rewardGroups, fc.constantFrom(...advantageVariants({}))),
    ([{ rewards, groupIds }, variant]) => ({
      asked: { stage: 'advantages', rewards, group_ids: groupIds, variant },
      expected: { advantages: groupAdvantages(rewards, groupIds, variant) },
    }),
  ),
  ...drawn(penalised, (given) => ({
    asked: { stage: 'penalties', ...given },
    expected: { logits: penalize(given.logits, given) },
  })),
  ...drawn(fc.tuple(ragged, fc.constantFrom('left' as const, 'right' as const)), ([rows, side]) => {
    const padded = padRows(rows, { side, pad: 3 });
    return {
      asked: { stage: 'collate', rows, side, pad: 3 },
      expected: { ...padded, position_ids: positionIds(padded.attention_mask) },
    };
  }),
];

describe('the reference agrees with torch in float64', () => {
  const stages = [...new Set(comparisons.map(({ asked }) => asked.stage))];
  let answers: unknown[] | undefined;

  for (const stage of stages) {
    it(`on ${CASES} random cases of ${stage}`, () => {
      answers ??= askTorch(comparisons.map(({ asked }) => asked));
      let compared = 0;
      comparisons.forEach(({ asked, expected }, index) => {
        if (asked.stage !== stage) return;
        const difference = firstDifference(answers?.[index], expected, stage);
        expect(difference, `${difference}, for ${JSON.stringify(asked, tagged)}`).toBeUndefined();
        compared += 1;
      });
      expect(compared).toBe(CASES);
    });
  }
});

function drawn<T>(arbitrary: fc.Arbitrary<T>, compare: (given: T) => Comparison): Comparison[] {
  return fc.sample(arbitrary, { seed: SEED, numRuns: CASES }).map(compare);
}

function askTorch(cases: readonly unknown[]): unknown[] {
  const python = process.env.LOSSPROOF_PYTHON ?? '.venv/bin/python';
  if (!existsSync(python)) {
    throw new Error(
      `There is no Python at ${python}, so nothing can be compared with torch. ` +
        'Run `npm run setup:trainers`, or set LOSSPROOF_PYTHON to a Python that has torch and transformers.',
    );
  }
  const oracle = fileURLToPath(new URL('reference_oracle.py', import.meta.url));
  const ran = spawnSync(python, [oracle], {
    input: JSON.stringify({ cases }, tagged),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024, // the answers take about 1 MB
  });
  if (ran.status !== 0) {
    throw new Error(`${python} ended with ${ran.status ?? ran.signal ?? ran.error}:\n${ran.stderr}`);
  }
  const answers: unknown = JSON.parse(ran.stdout);
  if (!Array.isArray(answers) || answers.length !== cases.length) {
    throw new Error(`the oracle did not answer each of ${cases.length} cases`);
  }
  return answers;
}

/** JSON has no word for NaN and the infinities; they cross as strings. */
function tagged(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

/** The path and the two values of the first difference, or undefined. A weight torch cannot tell is "NaN" there. */
function firstDifference(observed: unknown, expected: Nested, path: string): string | undefined {
  if (typeof expected === 'object') {
    const keys = Object.keys(expected);
    if (typeof observed !== 'object' || observed === null || Object.keys(observed).length !== keys.length) {
      return `${path} has another shape: ${JSON.stringify(observed)}`;
    }
    for (const key of keys) {
      const difference = firstDifference(
        (observed as Record<string, unknown>)[key],
        (expected as Record<string, Nested>)[key] ?? Number.NaN,
        `${path}.${key}`,
      );
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  if (path.startsWith('sft_loss.weights') && observed === 'NaN') return undefined;
  const number = Number(observed);
  return close(number, Number(expected), BAND)
    ? undefined
    : `${path}: torch says ${number}, the reference ${String(expected)}`;
}

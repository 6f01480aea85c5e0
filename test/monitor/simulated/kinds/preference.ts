// Training on pairs and on marks of single answers: DPO and its relatives, KTO, reward models.
import { type Dice, make } from '../../rules/logs.ts';
import { norms, shareOf } from '../noise.ts';
import { type Plan, plan } from '../plan.ts';
import type { Columns, Simulation } from '../simulation.ts';
import { declaredOf, evaluations, NAMINGS, speeds } from './supervised.ts';

/** From ln 2, exactly while the policy is still its reference, to 0.3 to 0.65; a stair at each new epoch. */
export function dpo(by: Dice): Simulation {
  const of = plan(by, { peak: [-6.5, -5], epochs: [1, 1, 2, 3] });
  const ease = by.pick([0.3, 1, 2.5]);
  const beta = by.pick([0.01, 0.1, 0.5]);
  const soon = by.pick([0.05, 0.2, 0.5]);
  const pairs = by.pick([8, 16, 64]) * Math.min(of.every, 10);
  // Both rewards may sink, the rejected one sinks deeper; or the chosen one rises.
  const sink = by.pick([-0.3, 0.5, 2, 6]) * ease * (beta / 0.1) ** 0.3;
  const margin = (row: number): number => {
    const seen = Math.max(0, Math.ceil(of.epochs[row] ?? 0) - 1);
    return ease * (1 - Math.exp(-(of.progress[row] ?? 1) / soon)) * (1 + 0.8 * seen);
  };
  // Weights of bfloat16 stand still while the rate is near 0, and with them the loss.
  const began = Math.min(
    4,
    of.progress.findIndex((each) => each > by.pick([0, 1e-4])),
  );
  const rough = (row: number): number =>
    0.05 * Math.min(1, 100 * (of.progress[row] ?? 1)) + 0.5 * margin(row);
  const measured = make(of.rows, (row) =>
    row < began ? 0 : margin(row) + (rough(row) * by.normal()) / Math.sqrt(pairs / 8),
  );
  const chosen = measured.map((value, row) =>
    value === 0 ? 0 : -sink * (of.progress[row] ?? 1) + value * 0.3 + 0.03 * by.normal(),
  );
  const loss = measured.map((value) => lossOfMargin(value, ease));
  const logps = -by.pick([30, 150, 400]);
  return preferences(
    by,
    of,
    {
      loss,
      grad_norm: norms(by, of.rows, (row) => (2 + 10 * beta) * Math.exp(-0.5 * margin(row))),
      'rewards/chosen': chosen,
      'rewards/rejected': chosen.map((value, row) => value - (measured[row] ?? 0)),
      'rewards/accuracies': measured.map((_, row) =>
        row < began
          ? 0
          : atLeast(shareOf(by, 0.5 + 0.42 * (1 - Math.exp(-1.5 * margin(row))), pairs), loss[row] ?? 0),
      ),
      'rewards/margins': measured,
      'logps/chosen': chosen.map((value) => below0(logps + value / beta + 10 * by.normal())),
      'logps/rejected': chosen.map((value, row) =>
        below0(logps + (value - (measured[row] ?? 0)) / beta + 10 * by.normal()),
      ),
      'logits/chosen': make(of.rows, () => -1.5 + 0.1 * by.normal()),
      'logits/rejected': make(of.rows, () => -1.4 + 0.1 * by.normal()),
    },
    margin,
    (value) => lossOfMargin(value, ease),
  );
}

/** Its estimate of the KL is of mismatched answers, a sum over tokens that is cut off at 0: very noisy, and of any size. */
export function kto(by: Dice): Simulation {
  const of = plan(by, { peak: [-6.5, -5], epochs: [1, 1, 2] });
  const ease = by.pick([0.1, 0.3]);
  const size = by.pick([0.5, 5, 20]);
  const progress = (row: number): number => 1 - Math.exp(-3 * (of.progress[row] ?? 1));
  const loss = make(of.rows, (row) => 0.5 - ease * progress(row) + 0.02 * by.normal() * (row === 0 ? 0 : 1));
  const chosen = make(of.rows, (row) => 0.8 * progress(row) + 0.1 * by.normal());
  const rejected = make(of.rows, (row) => -0.8 * progress(row) + 0.1 * by.normal());
  return preferences(
    by,
    of,
    {
      loss,
      grad_norm: norms(by, of.rows, () => 3),
      kl: make(of.rows, (row) => Math.max(0, size * progress(row) * (0.5 + 0.7 * by.normal()))),
      'rewards/chosen': chosen,
      'rewards/rejected': rejected,
      'rewards/margins': chosen.map((value, row) => value - (rejected[row] ?? 0)),
      'logps/chosen': make(of.rows, () => -200 + 20 * by.normal()),
      'logps/rejected': make(of.rows, () => -210 + 20 * by.normal()),
    },
    progress,
    (value) => 0.5 - ease * value,
  );
}

/** The loss of supervised training and that of the odds, added up; both are logged. */
export function orpo(by: Dice): Simulation {
  const run = dpo(by);
  const { rows, progress } = run.plan;
  const start = 0.8 + by.uniform();
  const fall = start * by.pick([0.1, 0.3, 0.6]);
  const supervised = make(rows, (row) => (start - fall * (progress[row] ?? 1) ** 0.5) * by.heavy(1, 0.05));
  const odds = make(rows, (row) => -(0.6 - 0.25 * (progress[row] ?? 1)) * by.heavy(1, 0.1));
  return {
    ...run,
    columns: {
      ...run.columns,
      loss: supervised.map((value, row) => value - 0.1 * (odds[row] ?? 0)),
      nll_loss: supervised,
      log_odds_ratio: odds,
      log_odds_chosen: odds.map((value) => 0.6 + value),
      eval_loss: Array.from({ length: rows }, () => undefined),
    },
  };
}

/** A model that learns which of two answers is the better one. */
export function rewardModel(by: Dice): Simulation {
  const of = plan(by, { peak: [-6, -4.5], epochs: [1, 1, 2] });
  const ease = by.pick([0.4, 1, 2]);
  const margin = (row: number): number => ease * (1 - Math.exp(-6 * (of.progress[row] ?? 1)));
  const pairs = by.pick([8, 16, 64]) * Math.min(of.every, 10);
  const measured = make(of.rows, (row) => margin(row) + (0.8 * by.normal()) / Math.sqrt(pairs / 4));
  return preferences(
    by,
    of,
    {
      loss: measured.map((value) => lossOfMargin(value, 1) * by.heavy(1, 0.02)),
      grad_norm: norms(by, of.rows, () => 5),
      accuracy: measured.map((_, row) => shareOf(by, 0.5 + 0.35 * (1 - Math.exp(-1.5 * margin(row))), pairs)),
      margin: measured,
      mean_reward: make(of.rows, () => 0.3 * by.normal()),
    },
    margin,
    (value) => lossOfMargin(value, 1),
  );
}

// --- helpers ---

/** A pair in the wrong order costs ln 2 or more. */
const atLeast = (share: number, loss: number): number => Math.max(share, 1 - loss / Math.LN2);

/** The mean over pairs whose margins lie around this one. */
const lossOfMargin = (margin: number, width: number): number => {
  const at = (value: number): number => Math.log1p(Math.exp(-value));
  if (margin === 0) return Math.LN2;
  return (
    (at(margin) + at(margin + width * 0.7) + at(margin - width * 0.7)) / 3 -
    ((at(0.7 * width) + at(-0.7 * width) - 2 * Math.LN2) / 3) * Math.exp(-3 * Math.abs(margin))
  );
};

function preferences(
  by: Dice,
  of: Plan,
  columns: Columns,
  learnt: (row: number) => number,
  lossOf: (learnt: number) => number,
): Simulation {
  const held = make(of.rows, (row) => lossOf(learnt(row) * 0.8));
  return {
    plan: of,
    columns: {
      ...columns,
      learning_rate: [...of.rates],
      epoch: [...of.epochs],
      ...evaluations(by, of, held),
      ...speeds(by, of),
    },
    naming: by.pick(NAMINGS),
    ...declaredOf(of),
  };
}

/** A log-probability: rewards that are large beside a small beta would leave nothing else for it. */
const below0 = (value: number): number => -Math.abs(value);

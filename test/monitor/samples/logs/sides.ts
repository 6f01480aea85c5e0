// Rollouts with the log-probabilities of both sides, of a small model: mechanisms that make them disagree, and noise that does not.
import { keepRow } from '../../../../src/monitor/samples/row.ts';
import { sampleOf } from '../../../../src/monitor/samples/samples.ts';
import type { Sample } from '../../../../src/monitor/series.ts';
import { mechanismOf, plantedOf } from '../../../gap/cases.ts';
import { type Planted, rolloutsWith } from '../../../gap/model.ts';
import { NOISES } from '../../../gap/noise.ts';
import type { Log, Logs } from './log.ts';

const ID = 'engine-and-trainer-agree';

/** As verl dumps them, twenty rows a step. */
export function read(planted: Planted, seed: number, rows = 200): Sample[] {
  return rolloutsWith(planted, { seed, rows }).flatMap(({ prompt, ids, sampling, trainer }, at) => {
    const step = Math.floor(at / 20) + 1;
    const row = {
      step,
      prompt_ids: prompt,
      completion_ids: ids,
      rollout_log_probs: [...sampling],
      old_log_probs: [...trainer],
    };
    const sample = sampleOf(row, `rollouts/${step}.jsonl line ${(at % 20) + 1}`, 'run');
    if (sample === undefined) throw new Error('no sample');
    keepRow(sample, row);
    return [sample];
  });
}

const WHATS = [
  'temperature below 1 in the engine',
  'top-p',
  'values one or two tokens late',
  'repetition penalty',
];

const faulty = WHATS.flatMap((what) => {
  const { cause = '', strengths } = mechanismOf(what);
  return Object.values(strengths).map(
    (planted, at): Log => ({
      name: `${what}, ${Object.keys(strengths)[at]}`,
      samples: read(planted(), 11 + at),
      kind: cause,
      says: /^200 rollouts from rollouts\/1\.jsonl line 1 on: /,
    }),
  );
});

const fine = Object.entries(NOISES).map(
  ([name, engine]): Log => ({ name: `${name} noise`, samples: read({ engine }, 3) }),
);

export const sidesLogs: Logs = {
  [ID]: [
    ...faulty,
    ...fine,
    { name: 'too few rows', samples: read(plantedOf('temperature below 1 in the engine', '0.7'), 5, 10) },
  ],
};

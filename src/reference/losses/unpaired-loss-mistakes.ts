// Losses of labelled completions as they are written by mistake, so that a wrong one can be named.
import type { Mistake } from '../mistake.ts';
import {
  meanLogRatio,
  type UnpairedLoss,
  type UnpairedLossInput,
  type UnpairedSettings,
  unpairedLoss,
  unpairedLossAt,
} from './unpaired-loss.ts';

/** What the loss of these rows was seen to be instead. */
export function unpairedLossMistakes(
  input: UnpairedLossInput,
  settings: UnpairedSettings,
): Mistake<UnpairedLoss>[] {
  const of = (changed: Partial<UnpairedLossInput>, other: Partial<UnpairedSettings> = {}): UnpairedLoss =>
    unpairedLoss({ ...input, ...changed }, { ...settings, ...other });
  const { logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs } = input;
  const zeros = (rows: UnpairedLossInput['logprobs']) => rows.map((row) => row.map(() => 0));
  const flipped = desirable.map((kind) => 1 - kind);
  const matched = { kl_logprobs: logprobs, ref_kl_logprobs: ref_logprobs };
  const { desirableWeight, undesirableWeight } = settings;
  return [
    { words: 'the label is read the other way round', answer: of({ desirable: flipped }) },
    {
      words: 'the sign of the log-ratio is turned',
      answer: of(
        { desirable: flipped },
        { desirableWeight: undesirableWeight, undesirableWeight: desirableWeight },
      ),
    },
    {
      words: 'each kind has the weight of the other',
      answer: of({}, { desirableWeight: undesirableWeight, undesirableWeight: desirableWeight }),
    },
    {
      words: 'the reference is not read',
      answer: of({ ref_logprobs: zeros(ref_logprobs), ref_kl_logprobs: zeros(ref_kl_logprobs) }),
    },
    { words: 'means over tokens are compared, not sums', answer: overMeans(input, settings) },
    { words: 'rows are added up, not averaged', answer: times(of({}), desirable.length) },
    ...(settings.objective === 'apo_zero'
      ? [
          {
            words: 'a KL is subtracted, as in KTO',
            answer: of({}, { objective: 'kto' }),
            legal: true as const,
          },
        ]
      : [
          { words: 'the KL may be below 0', answer: unpairedLossAt(input, settings, meanLogRatio(input)) },
          {
            bug: 'KTO-01',
            words: 'the KL is that of the rows themselves, not of mismatched ones',
            answer: { ...of(matched), kl_weights: zeros(kl_logprobs) },
          },
          { words: 'no KL is subtracted', answer: of({}, { objective: 'apo_zero' }), legal: true as const },
        ]),
  ];
}

/** The same rows, each with the mean of its tokens in the place of their sum. */
function overMeans(input: UnpairedLossInput, settings: UnpairedSettings): UnpairedLoss {
  const means = (rows: UnpairedLossInput['logprobs']) =>
    rows.map((row) => [row.reduce((sum, value) => sum + value, 0) / row.length]);
  const { logprobs, ref_logprobs, kl_logprobs, ref_kl_logprobs } = input;
  const found = unpairedLoss(
    {
      ...input,
      logprobs: means(logprobs),
      ref_logprobs: means(ref_logprobs),
      kl_logprobs: means(kl_logprobs),
      ref_kl_logprobs: means(ref_kl_logprobs),
    },
    settings,
  );
  return {
    ...found,
    weights: logprobs.map((row, b) => row.map(() => (found.weights[b]?.[0] ?? Number.NaN) / row.length)),
    kl_weights: kl_logprobs.map((row) => row.map(() => 0)),
  };
}

/** Every number of the batch, and none of a row, times this. */
const times = (right: UnpairedLoss, by: number): UnpairedLoss => ({
  ...right,
  loss: by * right.loss,
  weights: right.weights.map((row) => row.map((weight) => by * weight)),
});

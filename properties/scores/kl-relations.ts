// What the KL to the reference policy must do whatever its estimator: be 0 at the reference, and leave all but completion
// tokens alone.
import fc from 'fast-check';
import {
  type Args,
  bandOf,
  type KlEstimator,
  knobs,
  layTracks,
  type Property,
  relations,
  show,
  type Tracks,
  trackLabels,
  tracks,
  type World,
} from '../../src/index.ts';
import { ask, base, estimators, isCompletion } from './kl.ts';

const zeroAtReference: Property<Tracks> = {
  ...base,
  id: 'kl/zero-when-the-policy-is-the-reference',
  title: 'KL is 0 where policy and reference agree',
  why: 'A KL that is not 0 before the first step compares other tokens, another prompt or another model.',
  catches: ['LP-15', 'KL-03', 'LP-12'],
  given: () => tracks({ onPolicy: true }),
  async check(subject, drawn) {
    for (const estimator of estimators(subject)) {
      const { laid, answer } = await ask(subject, drawn, estimator);
      const band = bandOf(subject);
      if (answer.mean_kl !== undefined && !band.close(answer.mean_kl, 0))
        return {
          kind: 'nonzero',
          sentence: `Policy and reference agree on every token, but the mean KL is ${show(answer.mean_kl)}.`,
        };
      for (const [row, values] of (answer.kl ?? []).entries()) {
        const column = values.findIndex((value, at) => isCompletion(laid, row, at) && !band.close(value, 0));
        if (column >= 0)
          return {
            kind: 'nonzero',
            sentence: `Policy and reference agree on token ${column} of row ${row}, but its KL is ${show(values[column])}.`,
          };
      }
    }
    return undefined;
  },
};

export const klAtReference: readonly Property<Tracks>[] = [zeroAtReference];

/** A case, and the estimator to ask for by name; null: the trainer's own. */
interface Asked extends Tracks {
  readonly estimator?: KlEstimator | null;
}

const given = (world: World): fc.Arbitrary<Asked> =>
  fc
    .tuple(tracks(), fc.constantFrom(...estimators(world)))
    .map(([drawn, estimator]) => ({ ...drawn, estimator: estimator ?? null }));

function args(drawn: Asked): Args<'kl'> {
  const { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width } = layTracks(drawn);
  const { estimator } = drawn;
  const named = estimator === null || estimator === undefined ? {} : { kl_estimator: estimator };
  return { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width, ...named };
}

export const klRelations: readonly Property<Asked>[] = relations<'kl', Asked>({
  op: 'kl',
  stage: 'kl',
  noun: 'KL',
  given,
  args,
  labels: trackLabels,
  coverage: { 'unequal completions': 0.3 },
  allBut: [],
  relations: {
    padding: { catches: ['KL-13', 'LOSS-11'] },
    'masked-values': {
      catches: ['KL-08', 'KL-13', 'PAD-09', 'NUM-02', 'MSK-02'],
      why: 'KL summed over prompt, padding or tool output punishes the policy for text that it did not write.',
    },
    'nan-under-the-mask': { catches: ['NUM-02', 'NUM-06'] },
    'batch-mates': { catches: ['PAD-08', 'KL-08'] },
    stacked: { catches: ['KL-08', 'LOSS-11'] },
    long: { catches: ['KL-08', 'LOSS-11'] },
    inputs: { catches: ['KL-12'] },
  },
});

export const klKnobs = knobs<'kl', Asked>({
  op: 'kl',
  stage: 'kl',
  given,
  args,
  catches: ['KL-06', 'KL-09'],
});

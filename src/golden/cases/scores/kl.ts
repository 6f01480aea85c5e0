// Golden cases of the KL to the reference, token by token.
import { KL_ESTIMATORS } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { GAPS, knobCases, PLAIN, tracks } from '../inputs/tracks.ts';

export const klCases: readonly GoldenCase[] = [
  goldenCase('kl/completions', 'kl', () => tracks(PLAIN)),
  goldenCase('kl/gap-of-a-tool', 'kl', () => tracks(GAPS)),
  ...KL_ESTIMATORS.map((name) =>
    goldenCase(`kl/estimator-${name}`, 'kl', ({ hello }) =>
      hello.ops.kl?.kl_estimator?.includes(name)
        ? { ...tracks(PLAIN), kl_estimator: name }
        : `op \`kl\` cannot be asked for the estimator ${name}`,
    ),
  ),
  ...knobCases('kl', (_, settings) => ({ ...tracks(PLAIN), settings })),
];

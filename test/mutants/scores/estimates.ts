// Estimates of the KL that are none of what is declared: bounds of another side or of another estimate, tokens for rows.
import { type Mutant, wrong } from '../mutant.ts';

export const wrongEstimates: readonly Mutant[] = [
  // `clamp(d, max=10)` guards exp against overflow; made `clamp(d, -10, 10)`, k3 has no slope left where the policy is far
  // above the reference, which is where a KL is for. Fix: bound the side that overflows.
  wrong({
    name: 'kl-clamped-on-both-sides',
    title: 'The bound of one side of the log-ratio bounds both',
    semantics: { kl_estimator: 'k3', kl_clamp: [null, 10] },
    ops: {
      kl({ logprobs, ref_logprobs }) {
        return {
          kl: logprobs.map((row, b) =>
            row.map((logprob, t) => {
              const d = Math.min(Math.max((ref_logprobs[b]?.[t] ?? 0) - logprob, -10), 10);
              return Math.expm1(d) - d;
            }),
          ),
        };
      },
    },
  }),
  // The clamp of k3, which is exponentiated, was moved behind the branches and bounds every estimate: k1, the one that is
  // logged, never shows a policy that has run away. Fix: bound k3 where it is computed.
  wrong({
    name: 'kl-clamp-of-k3-on-k1-too',
    title: 'The bound of k3 bounds the k1 estimate too',
    can: { kl: { kl_estimator: ['k1', 'k3'] } },
    semantics: { kl_estimator: 'k3', kl_clamp: { k3: 10 } },
    ops: {
      kl({ logprobs, ref_logprobs, kl_estimator }) {
        return {
          kl: logprobs.map((row, b) =>
            row.map((logprob, t) => {
              const d = (ref_logprobs[b]?.[t] ?? 0) - logprob;
              return Math.min(Math.max(kl_estimator === 'k1' ? -d : Math.expm1(d) - d, -10), 10);
            }),
          ),
        };
      },
    },
  }),
  // The ratio became one of sequences, and the KL was left as it was. Fix: estimate it of the row's mean log-ratio as well.
  wrong({
    name: 'kl-of-tokens-declared-of-rows',
    title: 'The KL is of each token, declared as one of a row',
    semantics: { kl_estimator: 'k3', kl_level: 'sequence' },
    ops: {
      kl({ logprobs, ref_logprobs }) {
        return {
          kl: logprobs.map((row, b) =>
            row.map((logprob, t) => {
              const d = (ref_logprobs[b]?.[t] ?? 0) - logprob;
              return Math.expm1(d) - d;
            }),
          ),
        };
      },
    },
  }),
];

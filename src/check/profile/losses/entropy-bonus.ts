// The coefficient of the entropy bonus: how far the loss falls when every trained token is said to have so many nats.
import { bandOf } from '../../numbers.ts';
import type { Subject } from '../../property.ts';
import { layTracks } from '../../rows/tracks.ts';
import { discard } from '../../subject.ts';
import { misfitOf, type Probe, settled, type Variant } from '../probe.ts';
import { onPolicy, unitFactor } from './policy.ts';

interface EntropyCase {
  /** Completion tokens of each row; none of them has an advantage. */
  readonly lengths: readonly number[];
  readonly nats: number;
}

interface EntropyWay extends Variant {
  readonly coefficient: number;
  readonly unit: number;
}

export const entropyBonus: Probe<EntropyCase> = {
  id: 'entropy_coef',
  items: ['entropy_coef'],
  ops: ['loss'],
  lack: ({ hello }) => (hello.ops.loss?.entropy === true ? undefined : 'op `loss` does not offer entropy'),
  variants: async (subject) => {
    const declared = subject.semantics.entropy_coef;
    const unit = await unitFactor(subject);
    const seen = (await changeBy(subject, ALONE)) / unit / ALONE.nats;
    // A sign that is turned is no coefficient: such a bonus fits nothing.
    const solved = settled(Math.abs(seen), Math.max(bandOf(subject).relative, SOLVED), declared);
    return [...new Set([solved, 0, ...(declared === undefined ? [] : [declared])])].map(
      (coefficient): EntropyWay => ({
        name: coefficient === 0 ? 'no entropy bonus' : `minus ${coefficient} times the entropy`,
        items: { entropy_coef: coefficient },
        coefficient,
        unit,
      }),
    );
  },
  cases: () => [ALONE, { lengths: [1], nats: 0.5 }, { lengths: [1], nats: 4 }, ...SEVERAL],
  async fits(subject, given, variants) {
    const { loss_aggregation: aggregation } = subject.semantics;
    const isMean = aggregation === 'token-mean' || aggregation === 'seq-mean-token-mean';
    // The mean of a constant is the constant, whichever mean it is.
    if (given.lengths.length > 1 && !isMean)
      return discard('only a mean over tokens says what a sum of entropies should be');
    const change = await changeBy(subject, given);
    const band = bandOf(subject);
    const where = `what ${given.nats} nats on each of ${given.lengths.join(' + ')} tokens change in the loss`;
    return (variants as readonly EntropyWay[]).map(({ coefficient, unit }) => {
      // In units of the coefficient, or a small one would drown in the tolerance.
      const scale = unit * (coefficient === 0 ? 1 : coefficient);
      const expected = coefficient === 0 ? 0 : -given.nats;
      return misfitOf([{ where, expected, observed: change / scale }], (want) =>
        coefficient === 0 ? Number.MIN_VALUE : band.allowed(want),
      );
    });
  },
};

/** The loss with these nats on every trained token, less that with none. */
async function changeBy(subject: Subject, { lengths, nats }: EntropyCase): Promise<number> {
  const rows = onPolicy(
    lengths,
    lengths.map(() => 0),
  );
  const { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width, advantages, micro_batches } =
    layTracks({ rows }, { whole: true });
  const tracks = { logprobs, old_logprobs, ref_logprobs, completion_mask, prompt_width };
  const lossAt = async (value: number): Promise<number> => {
    const entropy = completion_mask.map((row) => row.map((on) => on * value));
    return (await subject.ask('loss', { ...tracks, advantages, micro_batches, entropy })).loss;
  };
  return (await lossAt(nats)) - (await lossAt(0));
}

const ALONE: EntropyCase = { lengths: [1], nats: 1.5 };
const SEVERAL: readonly EntropyCase[] = [
  { lengths: [1, 3], nats: 1.5 },
  { lengths: [4, 2, 1], nats: 2 },
];
const SOLVED = 1e-6;

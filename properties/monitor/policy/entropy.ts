// The entropy of a policy that lost its choices before it learnt to choose.
import type { MonitorRule, RuleWorld, Series, Violation } from '../../../src/index.ts';
import { at, from, type Row, read, streakOf, watchJoined, watchSeries } from '../watches.ts';
import { declaredNumber, hasRollouts, inARow, numberOf } from '../world.ts';

type Key = 'entropy' | 'reward';

const keyOf = ({ role, part }: Series): Key | undefined =>
  part === '' && (role === 'entropy' || role === 'reward') ? role : undefined;

/** Logged steps that make the beginning, at most. */
const BEGINNING = 3;

const entropyCollapse: MonitorRule = {
  id: 'monitor/entropy-collapse',
  title: 'The entropy does not fall to almost nothing while the reward is no better than at the start',
  stage: 'monitor',
  level: 'should',
  why: 'A policy that always samples the same text explores nothing, and its groups have equal rewards from then on. Entropy may fall as a task is learnt; here it fell for nothing.',
  catches: ['PPO-07', 'LP-05', 'PEN-02'],
  advice:
    'Go back to a checkpoint before, and lower the learning rate. Check the sign of the entropy bonus (the loss subtracts it), that penalties count the completion only, and what the reward really pays. Lowering the coefficient of a bonus that has the right sign makes it worse.',
  roles: ['entropy', 'reward'],
  settings: {
    share: {
      default: 0.05,
      what: 'Of the entropy of the first steps. Entropies differ by tokenizer, temperature and task, so that no number of nats is too low for all.',
    },
    points: inARow(2, 'Of the policy, which does not come back by itself.'),
  },
  watch: (world) =>
    watchJoined<Key>({
      keyOf,
      row: judgeCollapse(world),
      why: 'entropy is judged in runs with rollouts and rewards, from the second step on',
    }),
};

function judgeCollapse(world: RuleWorld): (row: Row<Key>) => Violation | 'seen' | undefined {
  const streak = streakOf(numberOf(world, 'points'));
  const share = numberOf(world, 'share');
  const first: number[] = [];
  let start: number | undefined;
  let recent: number | undefined;
  let best = Number.NEGATIVE_INFINITY;
  return (row) => {
    const reward = row.values.get('reward');
    if (reward !== undefined && Number.isFinite(reward)) {
      start ??= reward;
      best = Math.max(best, reward);
      recent = recent === undefined ? reward : (recent + reward) / 2;
    }
    const entropy = row.values.get('entropy');
    const series = row.seriesOf('entropy');
    if (entropy === undefined || series === undefined || !Number.isFinite(entropy)) return undefined;
    // A negative one is an entropy of densities, or a term of the loss: no share of it means anything.
    if (entropy < 0 || !hasRollouts(world)) return undefined;
    const highest = Math.max(...first, 0);
    const fallen = first.length > 0 && entropy < share * highest;
    if (!fallen && first.length < BEGINNING) first.push(entropy);
    const learnt = start !== undefined && recent !== undefined && recent > start;
    if (!streak.next(fallen && start !== undefined && !learnt, row.step))
      return first.length > 1 || fallen ? 'seen' : undefined;
    return {
      kind: 'collapsed',
      sentence: `${from(series, streak.from, row.step)} is ${read(entropy)} nats, from ${read(highest)} at the start, and the reward is no better than then.`,
      series,
      step: streak.from,
      value: entropy,
      low: share * highest,
    };
  };
}

const entropyBound: MonitorRule = {
  id: 'monitor/entropy-in-bounds',
  title: 'An entropy is not above that of a blind guess',
  stage: 'monitor',
  level: 'should',
  why: 'No distribution over V tokens has more than ln V nats. More means that padding is counted, that a sum is divided by a wrong count, or that it is no entropy.',
  catches: ['PPO-08'],
  advice:
    'Compute the entropy over the mask of the completions and divide by its sum. `lossproof check --only "entropy/*"` compares it.',
  roles: ['entropy'],
  settings: {
    vocabulary: { default: 0, what: 'Tokens of the vocabulary; 0: what the run declares as vocab_size.' },
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => ({
        point(step, value) {
          const vocabulary = numberOf(world, 'vocabulary') || declaredNumber(world, 'vocab_size');
          if (vocabulary === undefined || vocabulary < 2 || Number.isNaN(value) || series.part !== '')
            return undefined;
          const most = Math.log(vocabulary) * ROUNDING;
          if (value <= most) return 'seen';
          return {
            kind: 'above',
            sentence: `${at(series, step)} is ${read(value)} nats; ${vocabulary} tokens have at most ${read(Math.log(vocabulary))}.`,
            step,
            value,
            high: most,
          };
        },
      }),
      why: 'the run does not declare the size of its vocabulary; `--set monitor/entropy-in-bounds.vocabulary=32000` does',
    }),
};

/** Of bfloat16, and of vocabularies that are padded to a round number beyond what is declared. */
const ROUNDING = 1.05;

export const entropyRules: readonly MonitorRule[] = [entropyCollapse, entropyBound];

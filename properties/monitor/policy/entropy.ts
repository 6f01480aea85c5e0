// The entropy of a policy that lost its choices before it learnt to choose, or that lost what it knew.
import {
  type MonitorRule,
  median,
  noiseOf,
  type RuleWorld,
  type Series,
  type Violation,
} from '../../../src/index.ts';
import { hasMargins } from '../run-kind.ts';
import { at, from, type Row, read, streakOf, watchAnyOf, watchJoined, watchSeries } from '../watches.ts';
import { declaredNumber, hasRollouts, inARow, numberOf } from '../world.ts';
import { watchSudden } from './levels.ts';

type Key = 'entropy' | 'reward';

const keyOf = ({ role, part }: Series): Key | undefined =>
  part === '' && (role === 'entropy' || role === 'reward') ? role : undefined;

/** Logged steps that make the beginning, at most. */
const BEGINNING = 3;
/** Rewards that make the beginning, and what it is now. */
const REWARDS = 10;
/** Where more nats per token are, the policy guesses among tens of tokens, and the text is none. */
const NATS = 1;

const entropyCollapse: MonitorRule = {
  id: 'monitor/entropy-collapse',
  title: 'The entropy does not fall to almost nothing while the reward is no better than at the start',
  stage: 'monitor',
  level: 'should',
  why: 'A policy that always samples the same text explores nothing, and its groups have equal rewards from then on. Entropy may fall as a task is learnt; here it fell for nothing, or at once.',
  catches: ['PPO-07', 'LP-05', 'PEN-02'],
  advice:
    'Go back to a checkpoint before, and lower the learning rate. Check the sign of the entropy bonus (the loss subtracts it), that penalties count the completion only, and what the reward really pays. Lowering the coefficient of a bonus that has the right sign makes it worse.',
  roles: ['entropy', 'reward'],
  settings: {
    share: {
      default: 0.05,
      what: 'Share of the entropy of the first steps. Entropies differ by tokenizer, temperature and task, so no number of nats is too low for all.',
    },
    points: inARow(2, 'Steps of the policy, which does not come back by itself.'),
    factor: {
      default: 4,
      what: 'Factor of a fall within a few steps, after which it stays there, whatever the start was.',
    },
    floor: { default: 0.1, what: 'Nats per token: from less than that it does not fall.' },
  },
  watch: (world) => watchEntropy(world, 'falls', judgeCollapse(world)),
};

const entropyExplodes: MonitorRule = {
  id: 'monitor/entropy-explodes',
  title: 'The entropy does not rise to a multiple of its start while the reward is no better',
  stage: 'monitor',
  level: 'should',
  why: 'A policy that becomes less and less sure has lost what it knew: it is pushed away from what it says and towards nothing, until it samples words at random.',
  catches: ['PPO-07', 'LP-16', 'PPO-06'],
  advice:
    'Read samples of these steps. Lower the coefficient of the entropy bonus or the learning rate, and check the sign of the advantages: completions that are all punished are replaced by any other.',
  roles: ['entropy', 'reward'],
  settings: {
    times: {
      default: 3,
      what: `Multiple of the entropy of the first steps, and ${NATS} nat per token above it. Runs that clip less above than below let it rise to twice its start.`,
    },
    points: inARow(8, 'Batches differ.'),
    factor: {
      default: 3,
      what: 'Factor of a rise within a few steps, after which it stays there, whatever the start was.',
    },
    floor: { default: NATS, what: 'Nats per token: to less than that it does not rise.' },
  },
  watch: (world) => watchEntropy(world, 'rises', judgeExplosion(world)),
};

/** By what it was at the start, joined with the reward; and by what it was a step before. */
function watchEntropy(
  world: RuleWorld,
  which: 'falls' | 'rises',
  row: (row: Row<Key>) => Violation | 'seen' | undefined,
) {
  return watchAnyOf(
    watchJoined<Key>({
      keyOf,
      row,
      why: {
        keys: { entropy: 'entropy' },
        least: 2,
        otherwise: 'entropy is judged in runs with rollouts and rewards, or on preferences',
      },
    }),
    watchSudden(world, which, (series) => series.role === 'entropy'),
  );
}

/** Of the reward so far: it is better than in the beginning, by half of its noise as soon as that is known. */
function makeLearning() {
  const first: number[] = [];
  const last: number[] = [];
  return {
    add(reward: number | undefined) {
      if (reward === undefined || !Number.isFinite(reward)) return;
      if (first.length < REWARDS) first.push(reward);
      last.push(reward);
      if (last.length > REWARDS) last.shift();
    },
    started: () => first.length > 0,
    learnt() {
      const half = Math.max(1, last.length >> 1);
      const margin = first.length < REWARDS ? 0 : noiseOf([...first, ...last]) / 2;
      return median(last.slice(-half)) > median(first.slice(0, half)) + margin;
    },
  };
}

function judgeCollapse(world: RuleWorld): (row: Row<Key>) => Violation | 'seen' | undefined {
  const streak = streakOf(numberOf(world, 'points'));
  const share = numberOf(world, 'share');
  const first: number[] = [];
  const learning = makeLearning();
  return (row) => {
    learning.add(row.values.get('reward'));
    const entropy = row.values.get('entropy');
    const series = row.seriesOf('entropy');
    if (entropy === undefined || series === undefined || !Number.isFinite(entropy)) return undefined;
    // A negative one is an entropy of densities, or a term of the loss: no share of it means anything.
    if (entropy < 0 || !hasRollouts(world)) return undefined;
    const highest = Math.max(...first, 0);
    const fallen = first.length > 0 && entropy < share * highest;
    if (!fallen && first.length < BEGINNING) first.push(entropy);
    if (!streak.next(fallen && learning.started() && !learning.learnt(), row.step))
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

function judgeExplosion(world: RuleWorld): (row: Row<Key>) => Violation | 'seen' | undefined {
  const streak = streakOf(numberOf(world, 'points'));
  const times = numberOf(world, 'times');
  const first: number[] = [];
  let start = Number.NaN;
  const learning = makeLearning();
  return (row) => {
    learning.add(row.values.get('reward'));
    const entropy = row.values.get('entropy');
    const series = row.seriesOf('entropy');
    if (entropy === undefined || series === undefined || !Number.isFinite(entropy)) return undefined;
    // Fine-tuning teaches a sure model to doubt what people doubt; preferences are about answers that it has.
    if (entropy < 0 || !(hasRollouts(world) || hasMargins(world))) return undefined;
    // Without rollouts it does not rise on the way to a reward: the first steps are the start.
    if (first.length < (hasRollouts(world) ? REWARDS : BEGINNING)) {
      first.push(entropy);
      start = median(first);
      return undefined;
    }
    const high = Math.max(times * start, start + NATS);
    if (!streak.next(entropy > high, row.step) || learning.learnt()) return 'seen';
    return {
      kind: 'exploded',
      sentence: `${from(series, streak.from, row.step)} is ${read(entropy)} nats, from ${read(start)} at the start, ${learning.started() ? 'and the reward is no better than then' : 'which preferences do not ask for'}.`,
      series,
      step: streak.from,
      value: entropy,
      high,
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

export const entropyRules: readonly MonitorRule[] = [entropyCollapse, entropyExplodes, entropyBound];

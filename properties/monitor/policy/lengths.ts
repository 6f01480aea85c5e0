// How long completions are, and how they end.
import { type MonitorRule, rolling, type Series } from '../../../src/index.ts';
import { from, read, streakOf, watchSeries, watchStreaks } from '../watches.ts';
import { declaredNumber, inARow, numberOf, someSeries } from '../world.ts';

/** As its users call the limit, in trainers and inference engines. */
const LIMITS = [
  'max_completion_length',
  'response_length',
  'max_response_length',
  'data.max_response_length',
  'max_new_tokens',
  'generate_max_len',
  'max_completion_tokens',
  'max_response_tokens',
  'max_generated_tokens',
  'max_gen_length',
  'max_gen_len',
  'rollout_max_response_len',
  'actor_rollout_ref.rollout.response_length',
  'rollout.response_length',
  'rollout.max_new_tokens',
  'generation.max_new_tokens',
  'generation_config.max_new_tokens',
  'generation_kwargs.max_new_tokens',
  'sampling.max_tokens',
  'sampling_params.max_tokens',
  'max_tokens',
] as const;

/** A task that is answered in so few tokens may be one that one token answers. */
const SHORT_TASK = 4;

const lengthOne: MonitorRule = {
  id: 'monitor/length-stuck-at-one',
  title: 'Completions do not stay one token long',
  stage: 'monitor',
  level: 'should',
  why: 'A policy that answers with one token has found that stopping pays, or is pushed to stop: penalties that count the prompt make every token but the stop token unlikely.',
  catches: ['PEN-01', 'PEN-03', 'PAD-01'],
  advice:
    'Look at raw ids of some completions. Check that penalties count the completion only, that the stop token is not the likeliest first token after the header, and that completions are cut out at the right column. If one token is the task, set `least` to 0.',
  roles: ['completion_length'],
  settings: {
    least: {
      default: 1,
      what: `Tokens a completion, in the mean; not judged where the limit of length is ${SHORT_TASK} or less.`,
    },
    points: inARow(3, 'A batch of short answers is not a run of them.'),
  },
  watch: (world) =>
    watchStreaks(world, {
      reading: (series, value) => {
        const limit = declaredNumber(world, ...LIMITS);
        if (limit !== undefined && limit <= SHORT_TASK) return undefined;
        const low = numberOf(world, 'least');
        return {
          bad: value <= low,
          kind: 'one token',
          sentence: (first, last) =>
            `${from(series, first, last)} is ${read(value)}: completions end as soon as they begin.`,
          low,
        };
      },
      why: 'the limit of length is a few tokens',
    }),
};

const lengthInRange: MonitorRule = {
  id: 'monitor/length-in-range',
  title: 'The mean length of completions stays in the range that the task is known to need',
  stage: 'monitor',
  level: 'should',
  why: 'Answers far shorter or longer than the task needs mean that the policy found another way to the reward.',
  catches: ['PEN-01', 'EOS-05'],
  advice: 'Read samples of these steps. If the task changed, change the range.',
  roles: ['completion_length'],
  settings: {
    low: {
      default: 0,
      what: 'Tokens, in the mean; 0: no lower bound. Only you know what the task needs.',
    },
    high: { default: 0, what: 'Tokens, in the mean; 0: no upper bound.' },
    points: inARow(2, 'One batch may be odd.'),
  },
  watch: (world) => {
    const low = numberOf(world, 'low');
    const high = numberOf(world, 'high') || Number.POSITIVE_INFINITY;
    const isSet = low > 0 || high < Number.POSITIVE_INFINITY;
    return watchStreaks(world, {
      reading: (series, value) => {
        if (!isSet) return undefined;
        return {
          bad: value < low || value > high,
          kind: 'outside',
          sentence: (first, last) =>
            `${from(series, first, last)} is ${read(value)} tokens, ${value < low ? `below ${read(low)}` : `above ${read(high)}`}.`,
          low,
          high,
        };
      },
      band: () => (isSet ? { low, high } : undefined),
      why: 'no range is set: `--set monitor/length-in-range.low=15` and `.high=96`, for example',
    });
  },
};

const lengthAtLimit: MonitorRule = {
  id: 'monitor/length-stuck-at-limit',
  title: 'Completions do not all run into the limit of length',
  stage: 'monitor',
  level: 'should',
  why: 'Completions that never stop earn nothing for stopping, and their rewards are given to half sentences.',
  catches: ['EOS-05', 'EOS-07', 'EOS-01', 'EOS-12'],
  advice:
    'Check the stop ids of the sampler (a chat model may end its turn with another token than `eos_token`). Check that the model was trained on its stop token, and that the limit is long enough.',
  roles: ['completion_length', 'completion_length_min', 'completion_length_max'],
  settings: {
    limit: {
      default: 0,
      what: 'Tokens; 0: what the run declares, as `max_completion_length`, or else what the longest completion of ten steps in a row has, where the mean was well below it before.',
    },
    share: { default: 0.98, what: 'Share of the limit, on average, that counts as all of it.' },
    points: inARow(10, 'Untrained models begin by never stopping.'),
  },
  watch: (world) => {
    const longest = { tokens: Number.NaN, steps: 0 };
    let shortest = Number.POSITIVE_INFINITY;
    const limitOf = (): number | undefined => {
      const limit = numberOf(world, 'limit') || declaredNumber(world, ...LIMITS);
      if (limit !== undefined) return limit;
      const inferred = longest.steps >= SAME_LONGEST && shortest < WELL_BELOW * longest.tokens;
      return inferred ? longest.tokens : undefined;
    };
    return watchStreaks(world, {
      reading: (series, value) => {
        if (series.role === 'completion_length_max') {
          longest.steps = value === longest.tokens ? longest.steps + 1 : 1;
          longest.tokens = value;
          return undefined;
        }
        if (series.role === 'completion_length') shortest = Math.min(shortest, value);
        const limit = limitOf();
        if (limit === undefined || limit <= SHORT_TASK) return undefined;
        const share = series.role === 'completion_length' ? numberOf(world, 'share') : 1;
        return {
          // What is above the limit is the business of length-within-limit.
          bad: value >= share * limit && !isAbove(value, limit),
          kind: 'at the limit',
          sentence: (first, last) =>
            `${from(series, first, last)} is ${read(value)}, at the limit of ${limit} tokens: hardly any completion stopped by itself.`,
          high: limit,
        };
      },
      why: 'the run does not declare its limit of length; `--set monitor/length-stuck-at-limit.limit=256` does',
    });
  },
};

/** Trainers count the stop token, or do not. */
const STOP_TOKEN = 1;
const isAbove = (length: number, limit: number): boolean => length > limit + STOP_TOKEN;

const withinLimit: MonitorRule = {
  id: 'monitor/length-within-limit',
  title: 'No completion is longer than the limit of length',
  stage: 'monitor',
  level: 'should',
  why: 'A completion cannot be longer than the sampler was allowed to make it. One that is has its prompt or its padding counted, was sampled with another limit than is declared, or is logged in other units.',
  catches: ['EOS-05'],
  advice:
    'Check that the length is counted over the mask of the completion only, and that the sampler was given the declared limit. If a completion has several turns, each with this limit, switch the rule off.',
  roles: ['completion_length', 'completion_length_min', 'completion_length_max'],
  settings: {
    limit: {
      default: 0,
      what: 'Tokens; 0: the limit that the run declares or logs, as `max_completion_length`. Runs with tool calls are left alone: a completion of several turns may be longer.',
    },
    points: inARow(1, 'No length is above its limit by chance.'),
  },
  watch: (world) => {
    const seen = new Set<Series>();
    return watchStreaks(world, {
      reading: (series, value) => {
        // What else the run logs is known with the second step.
        if (!seen.has(series)) {
          seen.add(series);
          return undefined;
        }
        const limit = numberOf(world, 'limit') || declaredNumber(world, ...LIMITS);
        if (limit === undefined || limit <= 0 || hasTools(world)) return undefined;
        return {
          bad: isAbove(value, limit),
          kind: 'above',
          sentence: (first, last) =>
            `${from(series, first, last)} is ${read(value)} tokens, above the limit of ${read(limit)}: the sampler cannot make such a completion.`,
          high: limit,
        };
      },
      why: 'the run does not declare its limit of length, or calls tools; `--set monitor/length-within-limit.limit=256` sets it',
    });
  },
};

/** Turns between tool calls each have the limit for themselves. */
const hasTools = someSeries(
  ({ role, name }) =>
    role === 'tool_calls' || role === 'tool_failures' || /(?:^|[/_])(?:num_)?turns?(?:$|[/_])/.test(name),
);

/** Where the longest of a batch is the same so many times, it is the limit and not an answer. */
const SAME_LONGEST = 10;
const WELL_BELOW = 0.8;

const truncated = shareRule({
  id: 'monitor/truncated-share',
  title: 'Not nearly all completions are truncated',
  roles: ['truncated_share'],
  setting: 'most',
  limit: 0.95,
  what: 'Share of completions, 0 to 1, that may run into the limit. Untrained and reasoning models reach 0.9.',
  changed: 0.8,
  words: 'of the completions ran into the limit of length',
});

const stopped = shareRule({
  id: 'monitor/stopped-share',
  title: 'Some completions end with a stop token',
  roles: ['stopped_share'],
  setting: 'least',
  limit: 0.05,
  what: 'Share of completions, 0 to 1, that must end with a stop token.',
  changed: 0.2,
  words: 'of the completions ended with a stop token',
});

interface ShareSketch extends Pick<MonitorRule, 'id' | 'title' | 'roles'> {
  readonly setting: 'most' | 'least';
  readonly limit: number;
  readonly what: string;
  /** The limit of a run of which at least half stopped by themselves before. */
  readonly changed: number;
  readonly words: string;
}

/** Steps that make a level. */
const LEVEL = 10;
const LEAST_LEVEL = 5;

function shareRule({ id, title, roles, setting, limit, what, changed, words }: ShareSketch): MonitorRule {
  const most = setting === 'most';
  return {
    id,
    title,
    stage: 'monitor',
    level: 'should',
    why: 'A completion that is cut off is rewarded for half of what it would have said, and the stop token is never trained.',
    catches: ['EOS-05', 'EOS-07', 'EOS-12'],
    advice:
      'Check the stop ids that the sampler was given and the limit of length; read some completions to their end.',
    roles,
    settings: {
      [setting]: { default: limit, what },
      points: inARow(10, 'Untrained models begin by never stopping.'),
      changed: {
        default: changed,
        what: 'The same share in a run of which, in the median of ten steps before, at least half of the completions stopped: a policy that could stop and no longer does.',
      },
      points_changed: inARow(8, 'A batch of long answers is not a policy that cannot stop.'),
    },
    watch: (world) =>
      watchSeries({
        judge: (series) => {
          const recent = rolling(LEVEL);
          const always = streakOf(numberOf(world, 'points'));
          const lately = streakOf(numberOf(world, 'points_changed'));
          const [never, later] = [numberOf(world, setting), numberOf(world, 'changed')];
          let could = false;
          return {
            point(step, value) {
              if (!Number.isFinite(value)) return undefined;
              const beyond = (bound: number): boolean => (most ? value > bound : value < bound);
              const fromStart = always.next(beyond(never), step);
              const fromThen = lately.next(could && beyond(later), step);
              if (!could) {
                recent.add(value);
                const level = recent.median();
                could = recent.count >= LEAST_LEVEL && (most ? level <= 0.5 : level >= 0.5);
              }
              if (!fromStart && !fromThen) return 'seen';
              const first = fromThen ? lately.from : always.from;
              const bound = fromThen ? later : never;
              return {
                kind: 'share',
                sentence: `${from(series, first, step)}: ${Math.round(value * 1000) / 10} % ${words}${fromThen ? `; before, ${most ? 'at most' : 'at least'} half of them did` : ''}.`,
                step: first,
                value,
                ...(most ? { high: bound } : { low: bound }),
              };
            },
          };
        },
        why: 'no share that is a number was logged',
      }),
  };
}

export const lengthRules: readonly MonitorRule[] = [
  lengthOne,
  lengthAtLimit,
  withinLimit,
  lengthInRange,
  truncated,
  stopped,
];

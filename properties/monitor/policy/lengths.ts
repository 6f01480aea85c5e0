// How long completions are, and how they end.
import type { MonitorRule } from '../../../src/index.ts';
import { from, read, watchStreaks } from '../watches.ts';
import { declaredNumber, inARow, numberOf } from '../world.ts';

/** As its users call the limit, in trainers and inference engines. */
const LIMITS = [
  'max_completion_length',
  'response_length',
  'max_response_length',
  'data.max_response_length',
  'max_new_tokens',
  'generate_max_len',
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
      what: 'Tokens, in the mean; 0: no lower bound. Nobody but you knows what the task needs.',
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
    'Check the stop ids that the sampler was given (a chat model ends its turn with another token than `eos_token`), whether the model was ever trained on its stop token, and whether the limit is long enough.',
  roles: ['completion_length', 'completion_length_min'],
  settings: {
    limit: { default: 0, what: 'Tokens; 0: what the run declares, as `max_completion_length`.' },
    points: inARow(10, 'Untrained models begin by never stopping.'),
  },
  watch: (world) =>
    watchStreaks(world, {
      reading: (series, value) => {
        const limit = numberOf(world, 'limit') || declaredNumber(world, ...LIMITS);
        if (limit === undefined || limit <= SHORT_TASK) return undefined;
        return {
          bad: value >= limit,
          kind: 'at the limit',
          sentence: (first, last) =>
            `${from(series, first, last)} is at the limit of ${limit} tokens: no completion stopped by itself.`,
          high: limit,
        };
      },
      why: 'the run does not declare its limit of length; `--set monitor/length-stuck-at-limit.limit=256` does',
    }),
};

const truncated = shareRule({
  id: 'monitor/truncated-share',
  title: 'Not nearly all completions are truncated',
  roles: ['truncated_share'],
  bad: (share, limit) => share > limit,
  setting: 'most',
  share: 0.95,
  what: 'Share of completions, 0 to 1, that may run into the limit. Untrained and reasoning models reach 0.9.',
  words: 'of the completions ran into the limit of length',
});

const stopped = shareRule({
  id: 'monitor/stopped-share',
  title: 'Some completions end with a stop token',
  roles: ['stopped_share'],
  bad: (share, limit) => share < limit,
  setting: 'least',
  share: 0.05,
  what: 'Share of completions, 0 to 1, that must end with a stop token.',
  words: 'of the completions ended with a stop token',
});

interface ShareSketch extends Pick<MonitorRule, 'id' | 'title' | 'roles'> {
  readonly bad: (share: number, limit: number) => boolean;
  readonly setting: string;
  readonly share: number;
  readonly what: string;
  readonly words: string;
}

function shareRule({ id, title, roles, bad, setting, share, what, words }: ShareSketch): MonitorRule {
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
      [setting]: { default: share, what },
      points: inARow(10, 'Untrained models begin by never stopping.'),
    },
    watch: (world) =>
      watchStreaks(world, {
        reading: (series, value) => {
          const limit = numberOf(world, setting);
          return {
            bad: bad(value, limit),
            kind: 'share',
            sentence: (first, last) => `${from(series, first, last)}: ${Math.round(value * 100)} % ${words}.`,
            ...(setting === 'most' ? { high: limit } : { low: limit }),
          };
        },
        why: 'nothing was logged',
      }),
  };
}

const toolFailures: MonitorRule = {
  id: 'monitor/tool-failures',
  title: 'Tool calls do not all fail',
  stage: 'monitor',
  level: 'should',
  why: 'Where every call fails, the tool or the parser is broken, and the policy learns not to call.',
  catches: [],
  advice:
    'Run one call by hand through the same parser and tool. `lossproof check --only "tools/*"` checks the parser.',
  roles: ['tool_failures'],
  settings: {
    most: { default: 0.95, what: 'Share of calls, 0 to 1, that may fail.' },
    points: inARow(10, 'A policy that has never called a tool begins by calling it wrongly.'),
  },
  watch: (world) =>
    watchStreaks(world, {
      reading: (series, value) => {
        const high = numberOf(world, 'most');
        return {
          bad: value > high,
          kind: 'all fail',
          sentence: (first, last) =>
            `${from(series, first, last)}: ${Math.round(value * 100)} % of the tool calls failed.`,
          high,
        };
      },
      why: 'nothing was logged',
    }),
};

export const lengthRules: readonly MonitorRule[] = [
  lengthOne,
  lengthAtLimit,
  lengthInRange,
  truncated,
  stopped,
  toolFailures,
];

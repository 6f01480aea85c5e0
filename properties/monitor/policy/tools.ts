// Calls of tools: that they do not all fail, and that they do not cease.
import { type MonitorRule, rolling } from '../../../src/index.ts';
import { from, read, streakOf, watchSeries, watchStreaks } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

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
      why: 'no share that is a number was logged',
    }),
};

/** Steps that make a level, and how many are needed for one. */
const LEVEL = 16;
const LEAST_LEVEL = 5;

const toolsVanish: MonitorRule = {
  id: 'monitor/tool-calls-vanish',
  title: 'A policy that called tools does not cease to',
  stage: 'monitor',
  level: 'should',
  why: 'A policy whose calls cost it something, or fail, unlearns them for good: calls that are not sampled cannot be rewarded. It looks like a run that got shorter and cheaper.',
  catches: [],
  advice:
    'Read samples from before and after this step. Look whether calls failed first, whether results of tools are trained on as if the policy had said them, and whether the reward pays for an answer without a call.',
  roles: ['tool_calls'],
  settings: {
    share: {
      default: 0.05,
      what: 'Share of the highest level so far (the median of 16 logged steps): below it, tools are not used any more.',
    },
    points: inARow(8, 'A batch may need none.'),
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => {
        const recent = rolling(LEVEL);
        const streak = streakOf(numberOf(world, 'points'));
        const share = numberOf(world, 'share');
        let highest = 0;
        return {
          point(step, value) {
            if (!Number.isFinite(value)) return undefined;
            const gone = highest > 0 && value <= share * highest;
            if (!gone) {
              recent.add(value);
              if (recent.count >= LEAST_LEVEL) highest = Math.max(highest, recent.median());
            }
            if (!streak.next(gone, step)) return highest > 0 ? 'seen' : undefined;
            return {
              kind: 'vanished',
              sentence: `${from(series, streak.from, step)} is ${read(value)}; it was ${read(highest)} before: tools are not called any more.`,
              step: streak.from,
              value,
              low: share * highest,
            };
          },
        };
      },
      why: 'the policy has not called tools in most of five steps',
    }),
};

export const toolRules: readonly MonitorRule[] = [toolFailures, toolsVanish];

// Rewards and advantages of single samples, and what the samples of one prompt have in common.
import type { MonitorRule, RuleWorld, Sample, Violation, Watch } from '../../../src/index.ts';
import { type Judgement, numberSetting, shareRule, stepsOf } from './batch.ts';
import { quote } from './text.ts';

const base = { stage: 'monitor', roles: [], samples: true } as const;

export const rewardRules: readonly MonitorRule[] = [
  shareRule({
    id: 'monitor/rewards-of-samples-are-numbers',
    title: 'No sample that is trained has a reward or an advantage that is no number',
    level: 'should',
    why: 'One NaN among the rewards of a group makes the advantages of the whole group NaN, and one such row the whole update.',
    catches: ['NUM-02', 'NUM-06'],
    advice: 'Leave a sample out that the judge failed on, or give it a number, before means are taken.',
    share: 0,
    least: 1,
    faulty: 1,
    does: 'have a reward or an advantage that is no number',
    silent: 'no sample has a reward or an advantage',
    judge: () => finite,
  }),
  {
    ...base,
    id: 'monitor/completions-of-a-prompt-differ',
    title: 'Completions that were sampled for one prompt are not all the same',
    level: 'should',
    why: 'Equal completions have equal rewards and no advantage: a temperature of 0, a seed that is set again for each sample, or a policy without entropy. Nothing is learned from such a group.',
    catches: ['ADV-02'],
    advice:
      'Look at temperature, top_k and the seed that sampling is given; if completions grew alike over many steps, at the entropy.',
    settings: {
      share: { default: 0.9, what: 'Share of the groups of a step, 0 to 1, in which all are the same.' },
      least: { default: 3, what: 'Groups of two or more that must be judged together.' },
      characters: {
        default: 40,
        what: 'Shorter completions are not judged: an answer of one word has no other.',
      },
    },
    watch: watchGroups,
  },
  {
    ...base,
    id: 'monitor/rewards-of-samples-differ',
    title: 'Rewards are not one and the same number over many different completions',
    level: 'should',
    why: 'A judge that says the same of everything teaches nothing: it fails on each, is handed the wrong text, or looks for a format that the policy does not know.',
    catches: ['ZL-04'],
    advice:
      'Ask the judge about one completion of this file by hand. If it is right, the task is too hard or too easy for the policy: change the mixture of prompts.',
    settings: {
      samples: { default: 128, what: 'Samples in a row, all with one reward.' },
      steps: { default: 3, what: 'Steps that they come from at least, where steps are told.' },
    },
    watch: watchRewards,
  },
];

function finite({ reward, advantage }: Sample): Judgement {
  if (advantage !== undefined && !Number.isFinite(advantage))
    return { kind: 'advantage', which: `has the advantage ${advantage}` };
  if (reward === undefined) return advantage === undefined ? undefined : 'fine';
  // With a finite advantage, the trainer took notice: the sample was left out.
  return Number.isFinite(reward) || advantage !== undefined
    ? 'fine'
    : { kind: 'reward', which: `has the reward ${reward}` };
}

// --- the same completion again ---

interface Group {
  readonly first: Sample;
  readonly text: string;
  size: number;
  equal: boolean;
}

function watchGroups(world: RuleWorld): Watch {
  const share = numberSetting(world, 'share');
  const enough = numberSetting(world, 'least');
  const shortest = numberSetting(world, 'characters');
  let [judged, several] = [0, 0];
  let [seen, told] = [false, false];
  let groups = new Map<string, Group>();
  let [from, last]: (number | undefined)[] = [undefined, undefined];
  const isJudged = ({ size, text }: Group): boolean => size > 1 && text.length >= shortest;
  const close = (): Violation | undefined => {
    const found = [...groups.values()].filter(isJudged);
    const steps = stepsOf({ from, to: last });
    if (found.length < enough) {
      // Prompts that come once say nothing; those of steps long past do not come again.
      if (groups.size >= MOST_GROUPS) [groups, several] = [new Map(), 0];
      return undefined;
    }
    judged += found.length;
    [groups, several] = [new Map(), 0];
    const same = found.filter(({ equal }) => equal);
    const [first] = same;
    if (told || first === undefined || same.length < share * found.length) return undefined;
    told = true;
    return {
      kind: 'equal completions',
      sentence: `${same.length} of ${found.length} prompts with several completions${steps} have the same one each time: the first is ${first.first.where}, ${first.size} times ${quote(first.text)}.`,
      ...(first.first.step === undefined ? {} : { step: first.first.step }),
      value: same.length / found.length,
      low: 0,
      high: share,
      sample: first.first,
    };
  };
  return {
    sample(sample) {
      const key = groupOf(sample);
      const text = sample.completion ?? sample.completionIds?.join(' ');
      if (key === undefined || text === undefined || isHeldOut(sample)) return undefined;
      seen = true;
      // A prompt of another step is another group, and so is one of another file: tables are written again as they grow.
      const name = `${sample.step ?? ''} ${fileOf(sample)} ${key}`;
      const known = groups.get(name);
      const due =
        known === undefined &&
        (sample.step === undefined
          ? several >= Math.max(enough, WITHOUT_STEP)
          : sample.step !== last || groups.size >= MOST_GROUPS);
      const violation = due ? close() : undefined;
      if (groups.size === 0) from = sample.step;
      last = sample.step;
      if (known === undefined) groups.set(name, { first: sample, text, size: 1, equal: true });
      else {
        known.size++;
        if (known.text !== text) known.equal = false;
        if (known.size === 2 && isJudged(known)) several++;
      }
      return violation;
    },
    end: close,
    judged: () => judged,
    why: () =>
      judged > 0
        ? undefined
        : seen
          ? `fewer than ${enough} prompts with several completions of ${shortest} characters or more`
          : 'no sample has both prompt and completion',
  };
}

/** Prompts remembered at a time: more than a step of most runs has. */
const MOST_GROUPS = 1024;
/** Prompts judged together where the file tells no step. */
const WITHOUT_STEP = 16;

/** Evaluation may be greedy, and asks each prompt again: `validation/12.jsonl`, `eval_output_iter12.jsonl`. */
function isHeldOut({ where }: Sample): boolean {
  const [folder = '', file = ''] = ['', ...where.split(/[\\/]/)].slice(-2);
  return [folder, file].some((name) =>
    /(?:^|[_.-])(?:evals?|evaluation|val|valid|validation)(?=$|[\s_.-]|\d)/i.test(name),
  );
}

const fileOf = ({ where }: Sample): string => where.replace(/ (?:line|row|item) \d+.*$/, '');

function groupOf({ group, prompt, promptIds }: Sample): string | undefined {
  if (group !== undefined) return group;
  if (prompt !== undefined && prompt !== '') return prompt;
  return promptIds?.join(' ');
}

// --- the same reward again ---

/** Of advantages that are 0: what float32 makes of a mean of equal rewards. */
const ROUNDING = 1e-4;

function watchRewards(world: RuleWorld): Watch {
  const enough = numberSetting(world, 'samples');
  const enoughSteps = numberSetting(world, 'steps');
  let judged = 0;
  let row:
    | { first: Sample; reward: number; count: number; steps: number; last: number | undefined }
    | undefined;
  let differ = { prompts: false, completions: false };
  let told = false;
  return {
    sample(sample) {
      const { reward, step } = sample;
      if (reward === undefined || isHeldOut(sample)) return undefined;
      judged++;
      // Where something else than the reward is learned from (a teacher), the advantages say so.
      const isPaid = sample.advantage !== undefined && Math.abs(sample.advantage) > ROUNDING;
      if (row === undefined || row.reward !== reward || isPaid) {
        row = { first: sample, reward, count: 1, steps: 1, last: step };
        differ = { prompts: false, completions: false };
        told = false;
        return undefined;
      }
      row.count++;
      if (step !== row.last) {
        row.steps++;
        row.last = step;
      }
      differ = {
        prompts: differ.prompts || groupOf(sample) !== groupOf(row.first),
        completions: differ.completions || sample.completion !== row.first.completion,
      };
      if (told || row.count < enough || !differ.prompts || !differ.completions) return undefined;
      if (step !== undefined && row.steps < enoughSteps) return undefined;
      told = true;
      return {
        kind: 'one reward',
        sentence: `The last ${row.count} samples, from ${row.first.where} to ${sample.where}, all have the reward ${reward}, whatever was asked and answered.`,
        ...(row.first.step === undefined ? {} : { step: row.first.step }),
        value: reward,
        sample: row.first,
      };
    },
    judged: () => judged,
    why: () => (judged > 0 ? undefined : 'no sample has a reward'),
  };
}

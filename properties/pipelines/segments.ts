// From segments of a replay buffer to what the two models are trained on: rows of the language model, one a step, and
// windows of the world model, whose parts are all cut alike.
import {
  bandOf,
  type Finding,
  many,
  type Observed,
  type Ok,
  type Property,
  relations,
  type Segment,
  type Subject,
  sameIds,
  segmentListLabels,
  segmentLists,
  show,
  type Unroll,
  unrolledMask,
  unrollLabels,
  unrolls,
  type World,
} from '../../src/index.ts';

interface Steps {
  readonly segments: readonly Segment[];
}

const rowBase = {
  stage: 'segments',
  level: 'must',
  ops: ['segment_rows'],
  given: (world: World) => segmentLists(world.hello.tokens?.vocab_size),
  labels: segmentListLabels,
  coverage: { 'several segments': 0.2, 'same segment twice': 0.1 },
} as const;

/** Rows may be in any order: each is taken once by the segment that it is of. */
function unmatched(
  subject: Subject,
  segments: readonly Segment[],
  answer: Ok<'segment_rows'>,
): { rows: number[]; segments: number[] } {
  const band = bandOf(subject);
  const rows = new Set(answer.prompt_ids.keys());
  const left = [...segments.keys()].filter((at) => {
    const own = segments[at];
    const row = [...rows].find(
      (each) =>
        own !== undefined &&
        sameIds(answer.prompt_ids[each] ?? [], own.prompt_ids) &&
        sameIds(answer.completion_ids[each] ?? [], own.completion_ids) &&
        band.close(answer.rewards[each], own.reward),
    );
    return row === undefined || !rows.delete(row);
  });
  return { rows: [...rows], segments: left };
}

const described = (prompt: readonly number[] = [], ids: readonly number[] = [], reward?: number): string =>
  `prompt [${prompt.join(' ')}], action [${ids.join(' ')}], reward ${show(reward)}`;

export const segmentRowProperties: readonly Property<Steps>[] = [
  {
    ...rowBase,
    id: 'segments/every-step-is-one-row',
    title: 'There are as many training rows as steps in the segments',
    why: 'The last step of an episode is the one that is rewarded, and the one that a range loses; twins are steps, too.',
    catches: [],
    async check(subject, { segments }) {
      const rows = (await subject.ask('segment_rows', { segments })).prompt_ids.length;
      return rows === segments.length
        ? undefined
        : {
            kind: rows < segments.length ? 'lost' : 'added',
            sentence: `${many(segments.length, 'step')} ${segments.length === 1 ? 'becomes' : 'become'} ${many(rows, 'training row')}.`,
          };
    },
  },
  {
    ...rowBase,
    id: 'segments/rows-have-their-own-prompt-action-and-reward',
    title: 'Every training row has the prompt, the action and the reward of one step',
    why: 'An action is reinforced for what another one earned, or in a situation in which it was never taken.',
    catches: ['ADV-09'],
    async check(subject, { segments }): Promise<Finding | undefined> {
      const answer = await subject.ask('segment_rows', { segments });
      const left = unmatched(subject, segments, answer);
      const [row] = left.rows;
      if (row === undefined) return undefined;
      const own = left.segments[0] === undefined ? undefined : segments[left.segments[0]];
      const expected =
        own === undefined
          ? 'no step is left for it'
          : `a step that no row has is ${described(own.prompt_ids, own.completion_ids, own.reward)}`;
      return {
        kind: 'row',
        sentence: `Row ${row} has ${described(answer.prompt_ids[row], answer.completion_ids[row], answer.rewards[row])}, which is no step of the segments; ${expected}.`,
      };
    },
  },
];

const windows = (world: World) => unrolls(world.hello.tokens?.vocab_size);
const unrollBase = {
  stage: 'segments',
  level: 'must',
  ops: ['unroll'],
  given: windows,
  labels: unrollLabels,
  coverage: { 'window beyond the end': 0.2, 'window within': 0.1, 'several rows': 0.2 },
} as const;

const argsOf = ({ rows, steps }: Unroll) => ({
  observations: rows.map(({ observations }) => observations),
  actions: rows.map(({ actions }) => actions),
  rewards: rows.map(({ rewards }) => rewards),
  starts: rows.map(({ start }) => start),
  unroll_steps: steps,
});
const ask = (subject: Subject, drawn: Unroll): Promise<Ok<'unroll'>> => subject.ask('unroll', argsOf(drawn));

const windowOf = ({ rows, steps }: Unroll, row: number): string =>
  `a window of ${many(steps, 'step')} from step ${rows[row]?.start} of a segment of ${rows[row]?.actions.length}`;

export const unrollProperties: readonly Property<Unroll>[] = [
  {
    ...unrollBase,
    id: 'segments/unrolled-parts-keep-their-lengths',
    title: 'Actions, rewards and mask have K columns, observations K or K + 1',
    why: 'Observations that are cut by one and a mask that is not are a step apart, and broadcasting hides it.',
    catches: ['MSK-15'],
    async check(subject, drawn) {
      const answer = await ask(subject, drawn);
      for (const name of ['observations', 'actions', 'rewards', 'mask'] as const) {
        const width = answer[name][0]?.length ?? 0;
        const legal = width === drawn.steps || (name === 'observations' && width === drawn.steps + 1);
        if (!legal)
          return {
            kind: name,
            sentence: `The ${name} of ${windowOf(drawn, 0)} have ${many(width, 'column')}, expected ${drawn.steps}${name === 'observations' ? ` or ${drawn.steps + 1}` : ''}.`,
          };
      }
      return undefined;
    },
  },
  {
    ...unrollBase,
    id: 'segments/unrolled-mask-marks-the-steps',
    title: 'The mask is 1 on the steps of the segment, and 0 after its end',
    why: 'Padding that is trained teaches the world model that nothing follows; a step that is not trained is lost.',
    catches: ['MSK-15'],
    async check(subject, drawn) {
      const { mask } = await ask(subject, drawn);
      for (const [row, { actions, start }] of drawn.rows.entries()) {
        const expected = unrolledMask(actions.length, start, drawn.steps);
        const got = mask[row] ?? [];
        const at = expected.findIndex((one, k) => got[k] !== one);
        if (at >= 0)
          return {
            kind: 'mask',
            sentence: `The mask of step ${at} in row ${row} is ${show(got[at])}, expected ${expected[at]}: it is ${windowOf(drawn, row)}.`,
          };
      }
      return undefined;
    },
  },
  {
    ...unrollBase,
    id: 'segments/unrolled-steps-are-those-of-the-segment',
    title: 'On every step of the window stand the observation, the action and the reward of that step',
    why: 'A reward that is a step late is learned as what the action before earned.',
    catches: [],
    async check(subject, drawn) {
      const answer = await ask(subject, drawn);
      const band = bandOf(subject);
      for (const [row, { start, ...segment }] of drawn.rows.entries()) {
        for (const name of ['observations', 'actions', 'rewards'] as const) {
          const got = answer[name][row] ?? [];
          // Behind the end of the segment anything may stand.
          const expected = segment[name].slice(start, start + got.length);
          const at = expected.findIndex((value, k) =>
            name === 'rewards' ? !band.close(got[k], value) : got[k] !== value,
          );
          if (at >= 0)
            return {
              kind: name,
              sentence: `The ${name} of row ${row} have ${show(got[at])} at step ${at}, expected ${show(expected[at])}: it is ${windowOf(drawn, row)}.`,
            };
        }
      }
      return undefined;
    },
  },
  ...relations<'unroll', Unroll>({
    op: 'unroll',
    stage: 'segments',
    prefix: 'segments/unrolled-',
    noun: 'The window',
    given: windows,
    args: argsOf,
    labels: unrollLabels,
    coverage: { 'several rows': 0.2, 'unequal segments': 0.1 },
    // What is padded, and with what (at random, in some), is not looked at.
    observe: async (subject, args): Promise<Observed> => {
      const { mask, ...parts } = await subject.ask('unroll', args);
      const seen = (rows: readonly (readonly number[])[]): number[][] =>
        rows.map((row, b) => row.map((value, k) => (mask[b]?.[k] === 1 ? value : 0)));
      return {
        fields: {
          mask,
          ...Object.fromEntries(Object.entries(parts).map(([name, rows]) => [name, seen(rows)])),
        },
      };
    },
    allBut: [],
  }),
];

// The limit on advantages: what is inside stays, what is beyond it becomes the limit.
import {
  bandOf,
  type ClipCase,
  clipCase,
  clipLabels,
  type Property,
  relations,
  type Subject,
  show,
} from '../../src/index.ts';

const clipBase = {
  stage: 'advantages',
  level: 'must',
  ops: ['clip_advantages'],
  labels: clipLabels,
  given: () => clipCase(),
} as const;
const clipCoverage = { 'inside the limit': 0.3, 'on the limit': 0.1, 'beyond the limit': 0.3 };

const clipped = async (subject: Subject, drawn: ClipCase): Promise<readonly number[]> =>
  (await subject.ask('clip_advantages', drawn)).advantages;

export const clippingProperties: readonly Property<ClipCase>[] = [
  ...relations<'clip_advantages', ClipCase>({
    op: 'clip_advantages',
    stage: 'advantages',
    prefix: 'advantages/clipping-',
    noun: 'A clipped advantage',
    given: clipBase.given,
    args: (drawn) => drawn,
    labels: clipLabels,
    allBut: [],
  }),
  {
    ...clipBase,
    id: 'advantages/clipping-leaves-what-is-inside',
    title: 'An advantage within the limit is not changed by clipping',
    why: 'A clip that scales or shifts is a second learning rate, of ordinary tokens as well.',
    catches: ['ADV-15'],
    coverage: clipCoverage,
    async check(subject, drawn) {
      const observed = await clipped(subject, drawn);
      const at = drawn.advantages.findIndex(
        (value, row) => Math.abs(value) <= drawn.limit && !bandOf(subject).close(observed[row], value),
      );
      if (at < 0) return undefined;
      return {
        kind: 'inside',
        sentence: `The advantage ${drawn.advantages[at]} of row ${at} is within the limit ${drawn.limit}, and comes back as ${show(observed[at])}.`,
      };
    },
  },
  {
    ...clipBase,
    id: 'advantages/clipping-bounds-what-is-outside',
    title: 'An advantage beyond the limit becomes the limit, with its sign',
    why: 'One outlier that is not bounded, or loses its sign, moves the weights more than the whole batch.',
    catches: ['ADV-15'],
    coverage: clipCoverage,
    async check(subject, drawn) {
      const observed = await clipped(subject, drawn);
      const at = drawn.advantages.findIndex(
        (value, row) =>
          Math.abs(value) > drawn.limit &&
          !bandOf(subject).close(observed[row], Math.sign(value) * drawn.limit),
      );
      if (at < 0) return undefined;
      return {
        kind: 'outside',
        sentence: `The advantage ${drawn.advantages[at]} of row ${at} is beyond the limit ${drawn.limit}, and comes back as ${show(observed[at])}.`,
      };
    },
  },
  {
    ...clipBase,
    id: 'advantages/clipping-shows-nan',
    title: 'An advantage that is NaN is not made a number by clipping',
    why: 'NaN is the one sign that something broke before; as the limit it is trained on with full force.',
    level: 'may',
    catches: ['ADV-15', 'NUM-01'],
    async check(subject, drawn) {
      const advantages = drawn.advantages.map((value, row) => (row === 0 ? Number.NaN : value));
      const outcome = await subject.attempt('clip_advantages', { ...drawn, advantages });
      if (!('ok' in outcome) || Number.isNaN(outcome.ok.advantages[0])) return undefined;
      return {
        kind: 'nan',
        sentence: `The advantage NaN of row 0 comes back as ${show(outcome.ok.advantages[0])}.`,
      };
    },
  },
];

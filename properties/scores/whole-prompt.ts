// Models behind prompts of any length, long ones as well: both ends count. A limit of the scorer that is not the sampler's cuts
// long prompts, and what is left reads as a prompt. A cut is sharp; what a model forgets fades, and is none.
import {
  type Batch,
  batch,
  batchLabels,
  discard,
  type Finding,
  type Ids,
  isHalf,
  modelTokens,
  type Need,
  type Property,
  type Ragged,
  redrawn,
  type Subject,
  show,
  type World,
} from '../../src/index.ts';
import { otherId } from './other-ids.ts';

/** Ids that are tried in a token's place: two may be alike to a model. */
const TIMES = 2;
/** Steps of the answers' own precision: what fades is gone within fewer, what is cut off was moved by more. */
export const FADED = 256;

/** One token of many moves what comes long after it by less than half precision holds. */
export const precise: Need = (world) =>
  isHalf(world) ? 'half precision does not show what one token of a long prompt changes' : undefined;

const hasEnds = ({ prompts }: Pick<Batch, 'prompts'>): boolean => prompts.every((ids) => ids.length > 1);

export interface Read {
  readonly op: Property['ops'][number];
  readonly id: string;
  /** What is read off the model, in the plural. */
  readonly noun: string;
  readonly catches: readonly string[];
  readonly numbers: (subject: Subject, prompts: Ragged, completions: Ragged) => Promise<Ragged>;
}

export const READ: readonly Read[] = [
  {
    op: 'score',
    id: 'score/depends-on-the-whole-prompt',
    noun: 'scores',
    catches: ['TPL-07', 'TRN-03'],
    numbers: async (subject, prompt_ids, completion_ids) =>
      (await subject.ask('score', { prompt_ids, completion_ids })).logprobs,
  },
  {
    op: 'values',
    id: 'values/depend-on-the-whole-prompt',
    noun: 'values',
    catches: ['TPL-07'],
    numbers: async (subject, prompt_ids, completion_ids) =>
      (await subject.ask('values', { prompt_ids, completion_ids, temperature: 1 })).values,
  },
  {
    op: 'reward_model',
    id: 'values/score-depends-on-the-whole-prompt',
    noun: 'scores of the reward model',
    catches: ['TPL-07'],
    numbers: async (subject, prompt_ids, completion_ids) =>
      (await subject.ask('reward_model', { prompt_ids, completion_ids })).scores.map((value) => [value]),
  },
];

function wholePrompt(read: Read): Property<Batch> {
  const { op, id, noun, catches, numbers } = read;
  return {
    stage: op === 'score' ? 'score' : 'values',
    level: 'must',
    ops: [op],
    id,
    title: `The ${noun} depend on both ends of the prompt, also where it is long`,
    why: 'Long prompts begin with the documents, the tools and the rules: a limit that cuts them rates answers to half a question.',
    catches,
    needs: [modelTokens, precise],
    given: (world: World) => redrawn(batch({ tokens: world.hello.tokens, long: true }), hasEnds),
    labels: batchLabels,
    coverage: { 'long prompt': 0.03 },
    async check(subject, { prompts, completions }) {
      if (!hasEnds({ prompts })) return discard('a prompt of one token has no ends');
      const before = await numbers(subject, prompts, completions);
      const untold = new Set<number>();
      for (const end of [0, -1]) {
        // Of each row: one that moves would hide the others.
        const quiet = new Set(before.flatMap((own, row) => (own.length > 0 ? [row] : [])));
        for (let by = 1; by <= TIMES && quiet.size > 0; by++) {
          const others = prompts.map((ids) => replaced(subject, ids, end, by));
          const after = await numbers(subject, others, completions);
          for (const row of quiet) if (moved(before[row], after[row]) > 0) quiet.delete(row);
        }
        for (const row of quiet) {
          const finding = await cutFinding(
            subject,
            read,
            end,
            row,
            prompts[row] ?? [],
            completions[row] ?? [],
          );
          if (finding !== undefined) return finding;
          untold.add(row);
        }
      }
      return before.every((own, row) => own.length === 0 || untold.has(row))
        ? discard('what the ends of the prompts change fades, or is clipped', 'trainer')
        : undefined;
    },
  };
}

/** What each token of the prompt moves by itself must end at once, if its end moves nothing, and not by and by. */
async function cutFinding(
  subject: Subject,
  { noun, numbers }: Read,
  end: number,
  row: number,
  prompt: Ids,
  completion: Ids,
): Promise<Finding | undefined> {
  const changes = Array.from({ length: TIMES }, (_, by) =>
    prompt.map((__, at) => replaced(subject, prompt, at, by + 1)),
  ).flat();
  const all = await numbers(
    subject,
    [prompt, ...changes],
    [prompt, ...changes].map(() => completion),
  );
  const [own = [], ...others] = all;
  const most = prompt.map((_, at) =>
    Math.max(...others.flatMap((after, index) => (index % prompt.length === at ? [moved(own, after)] : []))),
  );
  const first = end === 0 ? most.findIndex((by) => by > 0) : most.findLastIndex((by) => by > 0);
  if (first < 0 || (most[first] ?? 0) <= FADED * spacing(all.flat())) return undefined;
  const lost = end === 0 ? first : prompt.length - 1 - first;
  // One token alone is all that a bigram reads; and where some move nothing among those that are read, numbers are clipped.
  const read = end === 0 ? most.slice(first) : most.slice(0, first + 1);
  return lost === 0 || read.length === 1 || read.includes(0)
    ? undefined
    : {
        kind: 'cut',
        sentence: `Row ${row} has ${prompt.length} prompt tokens. The ${end === 0 ? 'first' : 'last'} ${lost === 1 ? 'one changes' : `${lost} change`} none of its ${noun} when replaced by other ids, and the one ${end === 0 ? 'after' : 'before'} ${lost === 1 ? 'it' : 'them'} moves some by ${show(most[first])}: the prompt is cut.`,
        note: 'Where a limit cuts prompts, cut them before anything is sampled from them.',
      };
}

const replaced = (world: World, ids: Ids, place: number, by: number): Ids =>
  ids.map((id, at) => (at === (place < 0 ? ids.length + place : place) ? otherId(world, id, by) : id));

/** The largest difference. */
export const moved = (before: readonly number[] = [], after: readonly number[] = []): number =>
  Math.max(0, ...before.map((value, at) => Math.abs(value - (after[at] ?? value))));

/** Of the numbers as they are: float32 is told by each of them being one. */
export const spacing = (values: readonly number[]): number =>
  (values.every((value) => Math.fround(value) === value) ? 2 ** -24 : 2 ** -53) *
  Math.max(1, ...values.map(Math.abs));

export const wholePromptProperties: readonly Property<Batch>[] = READ.map(wholePrompt);

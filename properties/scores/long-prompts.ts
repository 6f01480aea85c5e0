// Models behind prompts of thousands of tokens, the longest that are affordable: a length at which prompts are cut before they are
// scored. What is cut is told by its sharp edge: a token more changes nothing at all, and up to there each changes much.
import {
  type Batch,
  batch,
  batchLabels,
  discard,
  type Finding,
  firstFinding,
  type Ids,
  modelTokens,
  type Property,
  redrawn,
  type Subject,
  type World,
} from '../../src/index.ts';
import { answersOfCut, MOST_CASES } from '../text/long.ts';
import { otherId } from './other-ids.ts';
import { FADED, moved, precise, READ, type Read, spacing } from './whole-prompt.ts';

/** Above the widths that scorers mostly have, 512 to 2,048; a model in pure Python bears it, and attention fits into memory. */
const TOKENS = 2_100;
const FEW = 20;
/** Up to so many tokens are the business of whole-prompt.ts. */
const SHORT = 64;
/** Another multiplier, modulus and start would do: what is made of few ids must not come round again. */
const STEP = 16_807;
const MODULUS = 2 ** 31 - 1;

/** So many ids of these, in no order that repeats. */
function mixed(ids: Ids, count: number): number[] {
  let state = 1;
  return Array.from({ length: count }, () => {
    state = (state * STEP) % MODULUS;
    return ids[state % ids.length] ?? 0;
  });
}

/** Tokens of a long prompt or answer; undefined: max_length leaves no room for one. */
function roomIn({ hello }: World, beside: number): number | undefined {
  const most = Math.min(TOKENS, (hello.max_length ?? Number.POSITIVE_INFINITY) - beside - FEW);
  return most > 2 * SHORT ? most : undefined;
}

const SIDES = ['left', 'right'] as const;
const ends = {
  left: (ids: Ids, length: number) => ids.slice(-length),
  right: (ids: Ids, length: number) => ids.slice(0, length),
};

/** What is answered for these tokens; the other part of the row is the last argument's tokens longer. */
type Numbers = (ids: Ids, more?: number) => Promise<readonly number[]>;

/** Whatever a model says to a prompt that is too long for it, it is no cut. */
const orRefused = (subject: Subject): Subject => ({
  ...subject,
  async ask(op, args) {
    const outcome = await subject.attempt(op, args);
    return 'ok' in outcome ? outcome.ok : discard(`a long row is refused (${outcome.refused})`, 'trainer');
  },
});

/** The length at which what is longer is cut, if it is. */
async function edge(whole: Ids, length: number, side: 'left' | 'right', numbers: Numbers) {
  const before = await numbers(whole);
  const at = (count: number) => numbers(ends[side](whole, count));
  const same = async (count: number): Promise<boolean> => moved(before, await at(count)) === 0;
  if (!(await same(length)) || (await same(SHORT))) return undefined;
  let [less, most] = [SHORT, length];
  while (most - less > 1) {
    const middle = Math.floor((less + most) / 2);
    if (await same(middle)) most = middle;
    else less = middle;
  }
  const last = await at(less);
  return moved(before, last) > FADED * spacing([...before, ...last]) ? most : undefined;
}

/** The row is cut, and not that part of it alone: of a longer other part, less of it is left. */
const ofRow = async (whole: Ids, cut: number, side: 'left' | 'right', numbers: Numbers): Promise<boolean> =>
  moved(await numbers(whole, 1), await numbers(ends[side](whole, cut - 1), 1)) === 0;

async function cutFinding(
  subject: Subject,
  noun: string,
  [what, whole, length]: readonly [string, Ids, number],
  other: Ids,
  numbers: Numbers,
): Promise<Finding | undefined> {
  for (const side of SIDES) {
    const cut = await edge(whole, length, side, numbers);
    if (cut === undefined) continue;
    const { cut_at: declared } = subject.semantics;
    const at = (await ofRow(whole, cut, side, numbers)) ? cut + other.length : cut;
    if (declared?.includes(at) || declared?.includes(cut)) continue;
    const lost = side === 'left' ? 'before its last' : 'after its first';
    return {
      kind: 'cut',
      sentence: `The ${noun} of ${what} of ${whole.length.toLocaleString('en')} tokens are to the last bit those of ${cut.toLocaleString('en')} of them, and change with one fewer: what stands ${lost} ${cut.toLocaleString('en')} is cut off.`,
      note: 'Where a limit cuts prompts, cut them before anything is sampled from them.',
      ...answersOfCut(declared, at),
    };
  }
  return undefined;
}

const hasBoth = ({ prompts, completions }: Batch): boolean =>
  (prompts[0] ?? []).length > 0 && (completions[0] ?? []).length > 0;

function longPrompt({ op, noun, catches, numbers, id }: Read): Property<Batch> {
  return {
    stage: op === 'score' ? 'score' : 'values',
    level: 'must',
    ops: [op],
    id: id.replace(/depends?-on-the-whole-prompt/, 'behind-a-long-prompt'),
    title: `The ${noun} after a prompt of thousands of tokens depend on all of it, or it is refused, unless a cut is declared`,
    why: 'A limit of the scorer is usually longer than every prompt of a test: after a long document, each answer is rated for half of it.',
    catches,
    needs: [
      modelTokens,
      precise,
      (world) => (roomIn(world, FEW) === undefined ? 'max_length leaves no room' : undefined),
    ],
    given: (world: World) => redrawn(batch({ tokens: world.hello.tokens }), hasBoth),
    labels: batchLabels,
    mostCases: MOST_CASES,
    check(subject, { prompts, completions }) {
      const [prompt = [], completion = []] = [prompts[0], completions[0]];
      const room = roomIn(subject, Math.max(prompt.length, completion.length));
      if (prompt.length === 0 || completion.length === 0 || room === undefined)
        return discard('there is no prompt, no answer, or no room');
      const of = async (ids: Ids, answer: Ids): Promise<readonly number[]> =>
        (await numbers(orRefused(subject), [ids], [answer]))[0] ?? [];
      // One more in front: it ends as it did.
      const longer = (ids: Ids, more = 0): Ids => [...ids.slice(0, more), ...ids];
      const ids = [...prompt, ...completion];
      // Not what the other part begins or ends with: at the edge of a cut row it would pass for a token that is lost.
      const beside = (other: Ids): number[] => {
        const others = [
          ...ids,
          ...ids.map((id) => otherId(subject, id, 1)),
          ...ids.map((id) => otherId(subject, id, 2)),
        ];
        const [first = 0, ...more] = others.filter((id) => id !== other[0] && id !== other.at(-1));
        return mixed([first, ...more.filter((id) => ids.includes(id))], room + FEW);
      };
      const parts = [
        () =>
          cutFinding(subject, noun, ['a prompt', beside(completion), room], completion, (row, more) =>
            of(row, longer(completion, more)),
          ),
        // Of an answer that has numbers of its own, those of tokens that are cut off are missing.
        () =>
          op === 'reward_model'
            ? cutFinding(subject, noun, ['an answer', beside(prompt), room], prompt, (row, more) =>
                of(longer(prompt, more), row),
              )
            : Promise.resolve(undefined),
      ];
      return firstFinding(parts);
    },
  };
}

export const longPromptProperties: readonly Property<Batch>[] = READ.map(longPrompt);

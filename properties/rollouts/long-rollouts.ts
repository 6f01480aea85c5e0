// Prompts, answers and turns of thousands of tokens: what is cut on the way from the sampler to the batch that is trained, at a
// length of the trainer's own, is whole on every short rollout.
import {
  type Finding,
  firstFinding,
  type Ids,
  type Property,
  type Rollouts,
  type Subject,
  type Trajectory,
  type Turn,
} from '../../src/index.ts';
import { stretched } from '../rows/long-rows.ts';
import { attended, cutFinding, lengthened, MOST_CASES, mayBeLong, okOf } from '../text/long.ts';
import { emitted, needsTokens, base as rolloutBase } from './rollout.ts';
import { argsOf, base as trajectoryBase } from './trajectory/rows.ts';

/** Behind ids in front of it that end nothing, an answer ends where it did. */
const delayed = (ids: Ids, more: number, id: number): Ids => [...new Array<number>(more).fill(id), ...ids];

const plainOf = (ids: Ids, ends: Ids): number | undefined => ids.find((id) => !ends.includes(id));

export const longRollouts: readonly Property<Rollouts>[] = [
  {
    ...rolloutBase,
    id: 'rollout/long-rollouts-are-whole',
    title:
      'A prompt of thousands of tokens is generated from and scored from end to end, and so is a long answer, unless a cut is declared, or it is refused',
    why: 'A limit on prompts cuts off the rules or the question, and the completion of the rest is scored as if it were an answer. An answer that lost its end is trained for a reward that its end earned.',
    catches: ['TRN-03', 'TRN-06'],
    needs: [needsTokens, mayBeLong],
    coverage: {},
    mostCases: MOST_CASES,
    check(subject, drawn) {
      const { eos_token_ids: stops = [], pad_token_id: pad } = subject.hello.tokens ?? {};
      const id = plainOf(
        drawn.rows.flatMap(({ sampled }) => sampled),
        [...stops, ...(pad === undefined ? [] : [pad])],
      );
      const asked = async (words: number, more: number) => {
        const rows = drawn.rows.slice(0, 1).map(({ messages, sampled }) => ({
          messages: lengthened(messages, words),
          sampled: id === undefined ? sampled : delayed(sampled, more, id),
        }));
        const ok = okOf(
          await subject.attempt('rollout', {
            conversations: rows.map(({ messages }) => messages),
            sampled_ids: emitted(subject, { rows }),
          }),
        );
        const trained = ok?.completion_mask.map((row) => row.map((on) => on === 1));
        return (
          ok && {
            given: ok.prompt_ids.map((ids) => ({ ids })),
            scored: attended(ok.input_ids, ok.attention_mask, trained),
          }
        );
      };
      return firstFinding([
        () =>
          cutFinding(subject, 'A prompt', async (words, more = 0) => {
            const rows = await asked(words, more);
            return rows && [...rows.given, ...rows.scored];
          }),
        async () =>
          id === undefined
            ? undefined
            : cutFinding(
                subject,
                'A sampled answer',
                async (tokens, more = 0) => (await asked(more, tokens))?.scored,
                { unit: 'tokens', answer: true },
              ),
      ]);
    },
  },
];

const TOOL = 'what a tool says';
const ASSISTANT = "the assistant's turn";

/** A part of a rollout, and the rollout with so many tokens more in it. */
interface Part {
  readonly name: string;
  readonly answer?: true;
  readonly length: number;
  readonly longer: (drawn: Trajectory, more: number) => Trajectory;
}

/** Of each kind the first that no trainer has a reason to leave out: what stands behind the last answer may be. */
function partsOf({ prompt, turns, stops }: Trajectory): Part[] {
  const cut = turns.findIndex((turn) => turn.finish_reason === 'length');
  // What stands behind a turn that was cut may be left out, too.
  const kept = cut < 0 ? turns : turns.slice(0, cut);
  const ended = (turn: Turn): boolean => turn.role === 'assistant' && stops.includes(turn.ids.at(-1) ?? -1);
  const turnLike = (role: Turn['role']): number =>
    kept.findIndex(
      (turn, at) =>
        turn.role === role &&
        (role === 'assistant' ? ended(turn) : turn.ids.length > 0 && kept.slice(at + 1).some(ended)),
    );
  const id = plainOf([...prompt, ...turns.flatMap(({ ids }) => ids)], stops);
  const ofTurn = (role: Turn['role'], name: string): Part[] => {
    const at = turnLike(role);
    const turn = turns[at];
    if (turn === undefined || (role === 'assistant' && id === undefined)) return [];
    const longer = (drawn: Trajectory, more: number): Trajectory => ({
      ...drawn,
      turns: drawn.turns.map((each, index) =>
        index !== at
          ? each
          : role === 'assistant'
            ? {
                ...each,
                ids: delayed(each.ids, more, id ?? 0),
                logprobs: [...new Array<number>(more).fill(-1), ...each.logprobs],
              }
            : { ...each, ids: stretched(each.ids, more) },
      ),
    });
    return [{ name, length: turn.ids.length, longer, ...(role === 'assistant' ? { answer: true } : {}) }];
  };
  return [
    {
      name: 'a prompt',
      length: prompt.length,
      longer: (drawn, more) => ({ ...drawn, prompt: stretched(drawn.prompt, more) }),
    },
    ...ofTurn('tool', TOOL),
    ...ofTurn('user', 'what a user says'),
    ...ofTurn('assistant', ASSISTANT),
  ];
}

export const longTrajectories: readonly Property<Trajectory>[] = [
  {
    ...trajectoryBase,
    id: 'trajectory/long-rollouts-are-whole',
    title:
      'A rollout with a prompt, a tool output or a turn of thousands of tokens is trained from end to end, or refused, unless a cut is declared',
    why: 'The answer to a search of many pages is trained without the pages it was read from, and a long rollout loses the turns after the limit together with their rewards.',
    catches: ['TRN-06', 'MT-05'],
    needs: [mayBeLong],
    // Few are tried, and each should have what a tool says and an answer that ended.
    given: (world) =>
      trajectoryBase.given(world).filter((drawn) => {
        const names = partsOf(drawn).map(({ name }) => name);
        return names.includes(TOOL) && names.includes(ASSISTANT);
      }),
    coverage: {},
    mostCases: MOST_CASES,
    check: (subject, { maxToolTokens: _, ...drawn }) =>
      firstFinding(partsOf(drawn).map((part) => () => partFinding(subject, drawn, part))),
  },
];

async function partFinding(
  subject: Subject,
  drawn: Trajectory,
  { name, answer, length, longer }: Part,
): Promise<Finding | undefined> {
  // Beside the part, the prompt or a turn is longer, too.
  const [prompt, turn] = [partsOf(drawn)[0], partsOf(drawn).findLast((part) => part.answer)];
  const beside = name === prompt?.name ? turn : prompt;
  if (beside === undefined) return undefined;
  return cutFinding(
    subject,
    `A rollout with ${name}`,
    async (tokens, more = 0) => {
      const attempt = await subject.attempt(
        'trajectory',
        argsOf(longer(more === 0 ? drawn : beside.longer(drawn, more), tokens)),
      );
      // A row a turn: the longest one has all of it.
      const [longest] = [...(okOf(attempt)?.input_ids ?? [])].sort((a, b) => b.length - a.length);
      return longest && [{ ids: longest }];
    },
    { unit: 'tokens', base: [length], ...(answer ? { answer } : {}) },
  );
}

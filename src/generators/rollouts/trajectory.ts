// Rollouts of several turns as ids, in the joint space where they are spliced wrongly: stop tokens inside injected
// text, turns that ran into the length limit in the middle, tool messages in a row, text behind a stop token.
import fc from 'fast-check';
import type { Ids, Tokens, Turn } from '../../vocabulary.ts';
import { logprob } from '../losses/tracks.ts';
import { rarely, timesOver, twinned } from '../rarely.ts';
import { begun, type Specials, specials } from '../specials.ts';

export interface Trajectory {
  readonly prompt: Ids;
  readonly turns: readonly Turn[];
  readonly advantage: number;
  readonly stops: Ids;
  /** So many ids of a tool's turn are kept at most; absent: all. */
  readonly maxToolTokens?: number;
  /** One a turn, 0 where it was injected; absent: turns have none of their own. */
  readonly rewards?: readonly number[];
}

export interface TrajectoryOptions {
  readonly tokens: Tokens | undefined;
  /** Generation stops at one id. */
  readonly oneStop?: boolean;
  /** Anything may stand behind the stop token of a turn. */
  readonly afterStop: boolean;
  /** What tools say is cut at a limit, in every case or in some. */
  readonly toolLimit?: 'always' | 'sometimes';
  /** Turns of the assistant have rewards of their own. */
  readonly turnRewards?: boolean;
}

/** First, middle and last turn can differ. */
const MAX_EXCHANGES = 3;
/** One rollout in so many has them so many times over: a buffer of five turns is full on no short one. */
const MANY_ONE_IN = 8;
const MANY = 3;
const MAX_PROMPT = 3;
const MAX_BODY = 3;
const MAX_INJECTED = 3;
/** Below what is injected, so that much of it is above the limit. */
const MAX_LIMIT = MAX_INJECTED - 1;
const MAX_AFTER = 2;
/** Symbols below this are ordinary tokens, the few above are stop tokens (of prompts and injected text). */
const ORDINARY = 20;
const STOPS_INSIDE = 4;
/** One turn in so many ends by its length. */
const CUT_ONE_IN = 3;
/** Never 0, which every mistake with advantages leaves alone. */
const ADVANTAGES = [1, -1, 0.5, -0.75, 2];
/** No sum of some is one of others, so that what was lost or given twice shows; those below 0 are penalties. */
const REWARDS = [1, -0.25, 0.5, -2, 4, 0];

interface Said {
  readonly symbol: number;
  readonly logprob: number;
}

interface Exchange {
  readonly body: readonly Said[];
  /** `null`: it ran into the length limit. */
  readonly stop: Said | null;
  readonly after: readonly Said[];
  readonly between: readonly { readonly role: 'tool' | 'user'; readonly ids: readonly number[] }[];
  readonly reward: number;
}

/** An arbitrary rollout of an agent: turns that were sampled, and turns of tools or users between them, as ids. */
export function trajectory(options: TrajectoryOptions): fc.Arbitrary<Trajectory> {
  const said = fc.record({ symbol: fc.nat(ORDINARY - 1), logprob: hundredths() });
  const symbols = fc.nat(ORDINARY + STOPS_INSIDE - 1);
  const injected = fc.record({
    role: fc.constantFrom('tool' as const, 'user' as const),
    ids: fc.array(symbols, { maxLength: MAX_INJECTED, size: 'max' }),
  });
  const exchange: fc.Arbitrary<Exchange> = fc.record({
    body: fc.array(said, { maxLength: MAX_BODY, size: 'max' }),
    stop: fc.option(fc.record({ symbol: fc.nat(2), logprob: hundredths() }), { freq: CUT_ONE_IN - 1 }),
    after: options.afterStop ? fc.array(said, { maxLength: MAX_AFTER }) : fc.constant([]),
    between: twinned(fc.array(injected, { maxLength: 2, size: 'max' })),
    reward: options.turnRewards === true ? fc.constantFrom(...REWARDS) : fc.constant(0),
  });
  return fc
    .record({
      special: specials(options.tokens, options),
      prompt: fc.array(symbols, { minLength: 1, maxLength: MAX_PROMPT, size: 'max' }),
      few: fc.array(exchange, { minLength: 1, maxLength: MAX_EXCHANGES, size: 'max' }),
      many: rarely(MANY_ONE_IN),
      advantage: fc.constantFrom(...ADVANTAGES),
      limit: limits(options.toolLimit),
    })
    .map(({ special, prompt, few, many, advantage, limit }) => {
      const exchanges = many ? timesOver(few, MANY) : few;
      const { plain, stops } = special;
      const idOf = (symbol: number): number =>
        symbol < ORDINARY
          ? (plain[symbol % plain.length] ?? 0)
          : (stops[(symbol - ORDINARY) % stops.length] ?? 0);
      const turns = exchanges.flatMap((each, at) => [
        spoken(each, special),
        ...answered(each, at === exchanges.length - 1).map(
          ({ role, ids }): Turn => ({ role, ids: ids.map(idOf), logprobs: [], finish_reason: 'none' }),
        ),
      ]);
      let spoke = 0;
      const rewards = turns.map(({ role }) => (role === 'assistant' ? (exchanges[spoke++]?.reward ?? 0) : 0));
      return {
        prompt: begun(special, prompt.map(idOf)),
        turns,
        advantage,
        stops,
        ...(limit === undefined ? {} : { maxToolTokens: limit }),
        ...(options.turnRewards === true ? { rewards } : {}),
      };
    });
}

/** Few of them are what half precision holds. */
const hundredths = (): fc.Arbitrary<number> => logprob().map((value) => Math.round(64 * value) / 100);

function limits(wanted: TrajectoryOptions['toolLimit']): fc.Arbitrary<number | undefined> {
  if (wanted === undefined) return fc.constant(undefined);
  const limit = fc.integer({ min: 1, max: MAX_LIMIT });
  return wanted === 'always' ? limit : fc.option(limit, { nil: undefined, freq: 3 });
}

function spoken({ body, stop, after }: Exchange, { plain, stops }: Specials): Turn {
  const ordinary = ({ symbol }: Said): number => plain[symbol % plain.length] ?? 0;
  const behind = stop === null ? [] : after;
  return {
    role: 'assistant',
    ids: [
      ...body.map(ordinary),
      ...(stop === null ? [] : [stops[stop.symbol % stops.length] ?? 0]),
      ...behind.map(ordinary),
    ],
    logprobs: [...body, ...(stop === null ? [] : [stop]), ...behind].map((each) => each.logprob),
    finish_reason: stop === null ? 'length' : 'stop',
  };
}

/** What is injected before the next turn. Only generation that was interrupted goes on without anything in between. */
function answered({ stop, between }: Exchange, last: boolean): Exchange['between'] {
  return between.length === 0 && stop !== null && !last ? [{ role: 'tool', ids: [1] }] : between;
}

/** What a rollout exercises. */
export function trajectoryLabels({ turns, stops, maxToolTokens: limit, rewards = [] }: Trajectory): string[] {
  const spoke = turns.filter(({ role }) => role === 'assistant');
  const next = (at: number): Turn | undefined => turns[at + 1];
  const cut = turns.flatMap(({ finish_reason: why }, at) => (why === 'length' ? [at] : []));
  const injects = (by: Turn['role'], fits: (length: number, limit: number) => boolean): boolean =>
    limit !== undefined && turns.some(({ role, ids }) => role === by && fits(ids.length, limit));
  const labels: readonly (readonly [string, boolean])[] = [
    ['several turns', spoke.length > 1],
    ['tool output', turns.some(({ role, ids }) => role === 'tool' && ids.length > 0)],
    [
      'two injected in a row',
      turns.some(({ role }, at) => at > 0 && role !== 'assistant' && turns[at - 1]?.role !== 'assistant'),
    ],
    [
      'stop among injected ids',
      turns.some(({ role, ids }) => role !== 'assistant' && ids.some((id) => stops.includes(id))),
    ],
    ['cut turn', cut.length > 0],
    [
      'cut turn in the middle',
      cut.some((at) => turns.slice(at + 1).some(({ role }) => role === 'assistant')),
    ],
    ['interrupted and resumed', cut.some((at) => next(at)?.role === 'assistant')],
    [
      'tokens after a stop',
      spoke.some(({ ids }) => stops.some((id) => ids.includes(id) && ids.at(-1) !== id)),
    ],
    ['ends with injected text', turns.at(-1)?.role !== 'assistant'],
    ['empty turn', spoke.some(({ ids }) => ids.length === 0)],
    ['tool output above the limit', injects('tool', (length, most) => length > most)],
    ['tool output at the limit', injects('tool', (length, most) => length === most)],
    ['user above the limit', injects('user', (length, most) => length > most)],
    ['several turns with rewards', rewards.filter((reward) => reward !== 0).length > 1],
    ['penalty', rewards.some((reward) => reward < 0)],
  ];
  return labels.filter(([, holds]) => holds).map(([label]) => label);
}

// Text of thousands of tokens, in the question and in the answer. A length that rows are cut at is right on every short case, and
// legal where it is meant: two texts of unequal length whose rows are equally long show it, whatever the tokenizer, and it is asked.
import {
  type Attempt,
  type ChatPairs,
  type Dialogue,
  declaration,
  type Finding,
  firstFinding,
  type Ids,
  IGNORE_INDEX,
  type Message,
  many,
  type Need,
  type Op,
  type Property,
  type Route,
  route,
  type Semantics,
  type SftBatch,
  type Subject,
  sameIds,
} from '../../src/index.ts';
import { promptOf, templateArg } from './conversation.ts';
import { preferenceBase } from './preference-batch.ts';
import { argsOf as batchArgs, base as batchBase } from './sft-batch-rows.ts';
import { base as tokenizeBase } from './tokenize.ts';

/** Of the shorter and the longer text: more words, and so more tokens, than the widths that trainers have by default, 512 to 4,096. */
export const WORDS = [4_200, 4_900] as const;
/** Each has a thousand times the tokens of another case, and so they are of one row. */
export const MOST_CASES = 3;
/** Of the text that a row which is cut is held against. */
const FEW = 20;
/** Of either end: enough to tell the end of an answer from the middle of a text. */
const END = 4;

/** A row as it came back, without padding. */
export interface LongRow {
  readonly ids: Ids;
  /** Which of them are trained. Absent where no labels are answered, and where nothing is to be trained. */
  readonly trained?: readonly boolean[];
}

/** In one list the rows of the one behind those of the other. */
export const HALVES = ['chosen', 'rejected'] as const;

export const pairName =
  ({ prompts }: { readonly prompts: readonly unknown[] }, answer = '') =>
  (row: number): string =>
    `The ${HALVES[Math.floor(row / prompts.length)]} half of a pair${answer}`;

/** The rows of a text of which a part is so many words longer, and the rest `more`; undefined where it is refused. */
export type Asked = (words: number, more?: number) => Promise<readonly LongRow[] | undefined>;

export const mayBeLong: Need = ({ hello }) =>
  hello.max_length === undefined
    ? undefined
    : `max_length is ${hello.max_length}: longer rows are never sent`;

/** What is made longer. */
interface Stretched {
  readonly unit?: 'words' | 'tokens';
  /** The answer, and so what is trained of a row; default: what stands before it. */
  readonly answer?: true;
  /** Tokens of that part in each row before it is made longer. Absent: they are counted by what is trained. */
  readonly base?: readonly number[];
}

/** Rows that are equally long where their texts are not. What refuses a text that is too long loses nothing in silence. */
export async function cutFinding(
  subject: Subject,
  what: string | ((row: number) => string),
  asked: Asked,
  { unit = 'words', answer, base }: Stretched = {},
): Promise<Finding | undefined> {
  const [shorter, longer] = WORDS;
  const [long, longest] = [await asked(shorter), await asked(longer)];
  if (long === undefined || longest === undefined) return undefined;
  const same = long.flatMap(({ ids }, at) => (ids.length === longest[at]?.ids.length ? [at] : []));
  if (same.length === 0) return undefined;
  const few = await asked(FEW);
  const row = same.find((at) => isOfText(at, few, long)) ?? -1;
  const cut = long[row];
  if (cut === undefined) return undefined;
  const { cut_at: declared } = subject.semantics;
  const short = few?.[row];
  const rest = (await asked(shorter, FEW))?.[row]?.ids.length ?? 0;
  // Where what is longer beside it makes a longer row, it is cut alone.
  const part =
    rest > cut.ids.length
      ? base === undefined
        ? tokensOf(cut, answer)
        : (base[row] ?? 0) + FEW + cut.ids.length - (short?.ids.length ?? 0)
      : undefined;
  const length = part ?? cut.ids.length;
  // Of a part that nothing tells from the rest, only how long it is at most.
  const untold = part === undefined && rest > cut.ids.length;
  if (declared?.some((at) => at === length || (untold && at < length))) return undefined;
  return {
    kind: answer ? 'answer cut' : 'cut',
    sentence: `${typeof what === 'string' ? what : what(row)} of ${shorter.toLocaleString('en')} ${unit} and one of ${longer.toLocaleString('en')} are both rows of ${many(cut.ids.length, 'token')}${length < cut.ids.length ? `, ${length} of them ${answer ? 'of the answer' : base === undefined ? 'before the answer' : 'its own'}` : ''}: ${wordsOf(cut, short?.ids ?? [])}.`,
    ...answersOfCut(declared, length),
  };
}

/** Rows and parts of them may be cut at several lengths, and the list of them is declared whole; where it is empty, none is meant. */
export const answersOfCut = (declared: Semantics['cut_at'], length: number): Pick<Finding, 'answers'> =>
  declared?.length === 0
    ? {}
    : { answers: [`${declaration('cut_at', [...(declared ?? []), length])}  (it is meant)`] };

/**
 * A row that is the same whatever the text is filler, which makes a batch divisible. Where no row depends on the text, none is
 * known to be filler.
 */
function isOfText(row: number, few: readonly LongRow[] | undefined, long: readonly LongRow[]): boolean {
  const isSame = (at: number): boolean => sameIds(few?.[at]?.ids ?? [], long[at]?.ids ?? []);
  return few === undefined || !isSame(row) || long.every((_, at) => isSame(at));
}

/** Likewise, of the question and then of the answer. */
export const eitherCut = (
  subject: Subject,
  what: string | ((row: number) => string),
  asked: (question: number, answer: number) => ReturnType<Asked>,
): Promise<Finding | undefined> =>
  firstFinding([
    () => cutFinding(subject, what, (words, more = 0) => asked(words, more)),
    () =>
      cutFinding(
        subject,
        (row) => `${typeof what === 'string' ? what : what(row)} with an answer`,
        (words, more = 0) => asked(more, words),
        { answer: true },
      ),
  ]);

/** Of the last answer, or of what stands before it; what stands behind it, a stop token that is not trained, is neither. */
function tokensOf({ ids, trained = [] }: LongRow, answer: boolean | undefined): number | undefined {
  const end = trained.lastIndexOf(true);
  const before = trained.lastIndexOf(false, end) + 1;
  if (end < 0) return undefined;
  if (answer) return end + 1 - before;
  return before === 0 || before === ids.length ? undefined : before;
}

/** What is lost, as the ends of a short row of the same conversation tell. */
function wordsOf({ ids, trained }: LongRow, whole: Ids): string {
  if (ids.length === 0) return 'overlong conversations are left out without a message';
  const keeps = [
    sameIds(ids.slice(0, END), whole.slice(0, END)),
    sameIds(ids.slice(-END), whole.slice(-END)),
  ] as const;
  const lost = keeps[0] === keeps[1] ? 'a part of' : keeps[0] ? 'the end of' : 'the beginning of';
  return `${lost} what is longer is cut off${trained?.includes(true) === false ? ', and nothing of the row is trained' : ''}`;
}

const FILLER = 'the river bends north of the old mill and the road goes on along it'.split(' ');

/** So many words, a space before each. */
export const filler = (words: number): string =>
  Array.from({ length: words }, (_, at) => ` ${FILLER[at % FILLER.length]}`).join('');

/** The conversation with so many words more in its last question, and in its answer; a word is never less than a token. */
export function lengthened(messages: readonly Message[], words: number, more = 0): readonly Message[] {
  const last = Math.max(
    0,
    messages.findLastIndex(({ role }) => role === 'user'),
  );
  return messages.map((message, at) => {
    if (at === last) return { ...message, content: `${message.content}${filler(words)}` };
    return at > last && message.role === 'assistant'
      ? { ...message, content: `${message.content}${filler(more)}` }
      : message;
  });
}

export const okOf = <O extends Op>(attempt: Attempt<O>) => ('ok' in attempt ? attempt.ok : undefined);

const isTrained = (label: number): boolean => label !== IGNORE_INDEX;

/** What of a row is attended to. */
export function attended(
  ids: readonly Ids[],
  attention: readonly Ids[],
  trained?: readonly (readonly boolean[])[],
): readonly LongRow[] {
  return ids.map((row, at) => {
    const real = <T>(values: readonly T[]): T[] =>
      values.filter((_, column) => attention[at]?.[column] === 1);
    return { ids: real(row), ...(trained === undefined ? {} : { trained: real(trained[at] ?? []) }) };
  });
}

const WHY =
  'A length that text is cut at without a word takes the answer off each long conversation, or the question, and the row is trained all the same: on nothing, or on half a prompt.';

function ofTokenize(which: Route): Property<Dialogue> {
  const isSft = which === 'sft';
  return {
    ...tokenizeBase,
    id: `tokenize/${isSft ? 'long-conversations' : 'long-prompts'}-are-whole`,
    title: `${isSft ? 'A conversation of thousands of tokens is a row of SFT' : 'A prompt of thousands of tokens is given to RL'} from end to end, or refused, unless a cut is declared`,
    why: WHY,
    catches: ['TRN-03', 'TRN-04'],
    needs: [route('tokenize', which), mayBeLong],
    mostCases: MOST_CASES,
    check: (subject, drawn) =>
      (isSft ? eitherCut : cutFinding)(
        subject,
        isSft ? 'A conversation' : 'A prompt',
        async (words: number, more?: number) => {
          const messages = lengthened(isSft ? drawn.messages : promptOf(drawn.messages), words, more);
          const ok = okOf(
            await subject.attempt('tokenize', {
              route: which,
              messages,
              add_generation_prompt: !isSft,
              ...templateArg(drawn),
            }),
          );
          const trained = isSft && ok?.labels !== undefined ? { trained: ok.labels.map(isTrained) } : {};
          return ok && [{ ids: ok.input_ids, ...trained }];
        },
      ),
  };
}

export const longConversations: readonly Property<Dialogue>[] = [ofTokenize('rl'), ofTokenize('sft')];

export const longBatches: readonly Property<SftBatch>[] = [
  {
    ...batchBase,
    id: 'sft-batch/long-conversations-are-whole',
    title:
      'A conversation of thousands of tokens is a row of the batch from end to end, or refused, unless a cut is declared',
    why: WHY,
    catches: ['TRN-03', 'TRN-04'],
    needs: [mayBeLong],
    mostCases: MOST_CASES,
    check: (subject, drawn) =>
      eitherCut(subject, 'A conversation', async (words, more) => {
        const conversations = drawn.conversations
          .slice(0, 1)
          .map((messages) => lengthened(messages, words, more));
        const ok = okOf(await subject.attempt('sft_batch', batchArgs({ ...drawn, conversations })));
        const trained = ok?.labels.map((row) => row.map(isTrained));
        return ok && attended(ok.input_ids, ok.attention_mask, trained);
      }),
  },
];

export const longPairs: readonly Property<ChatPairs>[] = [
  {
    ...preferenceBase,
    id: 'preference/of-conversations-long-prompts-are-whole',
    title:
      'Both halves of a pair are whole, also if the prompt or the answer has thousands of tokens, or the pair is refused, unless a cut is declared',
    why: 'Where the prompt fills the length that rows are cut at, both halves are the same row, and a pair without an answer says nothing at a loss of 0.69.',
    catches: ['TRN-03', 'TRN-04'],
    needs: [mayBeLong],
    mostCases: MOST_CASES,
    check: (subject, drawn) =>
      eitherCut(subject, pairName({ prompts: drawn.prompts.slice(0, 1) }), async (words, more) => {
        const prompts = drawn.prompts.slice(0, 1).map((messages) => lengthened(messages, words));
        const [chosen, rejected] = HALVES.map((half) =>
          drawn[half].slice(0, 1).map((answer) => `${answer}${filler(more)}`),
        ) as [string[], string[]];
        const ok = okOf(await subject.attempt('preference_batch', { prompts, chosen, rejected }));
        return (
          ok &&
          HALVES.flatMap((half) => {
            const trained = ok[`${half}_mask`]?.map((row) => row.map((one) => one === 1));
            return attended(ok[`${half}_input_ids`], ok[`${half}_attention_mask`], trained);
          })
        );
      }),
  },
];

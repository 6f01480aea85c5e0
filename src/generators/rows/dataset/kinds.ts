// The kinds of rows that an adversarial training set is made of, each for one thing that has gone wrong in real trainers.
// A kind draws a sketch; dataset-rows.ts writes it in the form of a data set.
import fc from 'fast-check';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import {
  code,
  edged,
  emoji,
  multilingual,
  numbers,
  plainContent,
  prose,
  specialText,
} from '../../text/text.ts';

export type DatasetForm = 'chat' | 'prompt-completion' | 'preference' | 'prompt';
export const DATASET_FORMS: readonly DatasetForm[] = ['chat', 'prompt-completion', 'preference', 'prompt'];

export interface Exchange {
  readonly user: string;
  readonly answer: string;
  /** The worse answer, of a preference. */
  readonly worse: string;
  /** What a tool was asked, and what it said, before the answer. */
  readonly tool?: { readonly said: string; readonly city: string; readonly result: string };
}

/** A row as choices. */
export interface Sketch {
  readonly system?: string;
  /** One at least. */
  readonly exchanges: readonly Exchange[];
  /** It takes the prompt of another row, or is that row once more; so many rows before. */
  readonly again?: { readonly of: 'prompt' | 'row'; readonly back: number };
  /** Words that its last prompt is made longer with, until the row has as many tokens as it may. */
  readonly filling?: readonly string[];
}

export interface Kind {
  /** What a row of this kind shows, one of its labels; undefined: anything. */
  readonly label: string | undefined;
  readonly forms: readonly DatasetForm[];
  /** It is drawn only where this is asked for. */
  readonly only?: 'system' | 'tools' | 'empty';
  readonly sketch: (tokenizer: Tokenizer | undefined) => fc.Arbitrary<Sketch>;
}

/** In the order in which a small data set gets them. */
export function kindsOf(form: DatasetForm): readonly Kind[] {
  return KINDS.filter(({ forms }) => forms.includes(form));
}

// --- helpers ---

const ALL = DATASET_FORMS;
const ANSWERED: readonly DatasetForm[] = ['chat', 'prompt-completion', 'preference'];
const CHAT: readonly DatasetForm[] = ['chat'];
/** One token of any vocabulary that merges letters at all. */
const SHORTEST = ['a', '4', 'I', '.', '0'];
/** A search for the answer, or for a role's header, finds these in the wrong place. */
const HEADER_WORDS = ['assistant', 'user', 'model', 'system', 'answer', 'Assistant:'];
/** Every eos that a family has, where no tokenizer says which one it is. */
const EOS_TEXTS = ['<|im_end|>', '</s>', '<|endoftext|>', '<|eot_id|>', '<eos>'];
const CITIES = ['Oslo', 'São Paulo', '東京', 'New York'];
/** Many times an answer, and short of what an ordinary model takes. */
const MANY_WORDS = { minLength: 22, maxLength: 30 };
/** More than any row has room for: filling stops where the row is full. */
const FILLING_WORDS = 400;
/** Of how many rows before it a row takes the prompt, at most. */
const FAR_BACK = 7;

type Parts = { readonly [Part in keyof Exchange]?: fc.Arbitrary<Exchange[Part]> };

/** Text that says something: an empty prompt leaves a trainer nothing to condition on. */
const said = (): fc.Arbitrary<string> => plainContent().filter((text) => text.trim() !== '');

const exchange = (parts: Parts): fc.Arbitrary<Exchange> =>
  fc
    .record({ user: said(), answer: said(), worse: said(), ...parts })
    // Of two answers that are alike, neither is the better one.
    .map((made) => (made.worse === made.answer ? { ...made, worse: `${made.worse} not` } : made));

const one = (parts: Parts = {}): fc.Arbitrary<Sketch> =>
  exchange(parts).map((made) => ({ exchanges: [made] }));

const several = (parts: Parts = {}, least = 2): fc.Arbitrary<Sketch> =>
  fc
    .array(exchange(parts), { minLength: least, maxLength: 3, size: 'max' })
    .map((exchanges) => ({ exchanges }));

const words = (): fc.Arbitrary<string> =>
  fc.array(prose(), MANY_WORDS).map((parts) => parts.map((part) => part.split(' ')[0]).join(' '));

const onBoth = (text: () => fc.Arbitrary<string>): fc.Arbitrary<Sketch> =>
  one({ user: text(), answer: text(), worse: text() });

const after = (start: readonly string[]): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom(...start), said()).map(([first, rest]) => first + rest.trimStart());

const KINDS: readonly Kind[] = [
  {
    label: 'one-token answer',
    forms: ANSWERED,
    sketch: () => one({ answer: fc.constantFrom(...SHORTEST) }),
  },
  { label: 'several turns', forms: CHAT, sketch: () => several() },
  { label: 'special token text', forms: ALL, sketch: (tokenizer) => one({ user: specialText(tokenizer) }) },
  {
    label: 'long prompt, short answer',
    forms: ANSWERED,
    sketch: () => one({ user: words(), answer: fc.constantFrom('yes', 'no', '42') }),
  },
  { label: 'long prompt', forms: ['prompt'], sketch: () => one({ user: words() }) },
  {
    label: 'short prompt, long answer',
    forms: ANSWERED,
    sketch: () => one({ user: fc.constantFrom('Why?', 'Go', '1'), answer: words() }),
  },
  {
    label: 'answer begins with a newline',
    forms: ANSWERED,
    sketch: () => one({ answer: after(['\n', '\n\n']), worse: after(['\n']) }),
  },
  {
    label: 'answer begins with a space',
    forms: ANSWERED,
    sketch: () => one({ answer: after([' ', '  ']), worse: after([' ']) }),
  },
  { label: 'edge white space', forms: ALL, sketch: () => onBoth(() => edged(prose())) },
  { label: 'empty answer', forms: ANSWERED, only: 'empty', sketch: () => one({ answer: fc.constant('') }) },
  {
    label: 'system message',
    forms: CHAT,
    only: 'system',
    sketch: () => fc.tuple(several({}, 1), said()).map(([sketch, system]) => ({ ...sketch, system })),
  },
  {
    label: 'tool result',
    forms: CHAT,
    only: 'tools',
    sketch: () =>
      one({
        tool: fc.record({ said: plainContent(), city: fc.constantFrom(...CITIES), result: plainContent() }),
      }),
  },
  {
    label: 'eos text in a prompt',
    forms: ALL,
    sketch: (tokenizer) => {
      const id = tokenizer?.eosTokenId;
      const own = id === undefined ? undefined : tokenizer?.token(id);
      const eos = fc.constantFrom(...(own === undefined ? EOS_TEXTS : [own]));
      return one({ user: fc.tuple(said(), eos, prose()).map((parts) => parts.join(' ')) });
    },
  },
  {
    label: 'prompt of another row',
    forms: ALL,
    sketch: () =>
      fc
        .tuple(one(), fc.nat(FAR_BACK))
        .map(([sketch, back]) => ({ ...sketch, again: { of: 'prompt', back } })),
  },
  {
    label: 'as long as may be',
    forms: ALL,
    sketch: () =>
      fc
        .tuple(
          one({ answer: prose() }),
          fc.array(prose(), { minLength: FILLING_WORDS, maxLength: FILLING_WORDS }),
        )
        .map(([sketch, filling]) => ({ ...sketch, filling })),
  },
  {
    label: 'digits',
    forms: ALL,
    sketch: () => onBoth(() => numbers().filter((text) => /\p{Nd}/u.test(text))),
  },
  {
    label: 'other scripts',
    forms: ALL,
    sketch: () =>
      onBoth(() => fc.tuple(multilingual(), multilingual()).map((parts) => `${parts.join(' ')} мир`)),
  },
  { label: 'emoji', forms: ALL, sketch: () => onBoth(() => emoji().map((text) => `🙂${text}`)) },
  {
    label: 'newline inside',
    forms: ALL,
    sketch: () => onBoth(() => fc.tuple(prose(), code(), prose()).map((parts) => parts.join('\n'))),
  },
  {
    label: 'answer stands in the prompt',
    forms: ANSWERED,
    sketch: () =>
      fc.tuple(prose(), prose(), prose()).map(([before, answer, worse]) => ({
        exchanges: [{ user: `${before} ${answer}`, answer, worse: `${worse} ${answer}` }],
      })),
  },
  {
    label: "answer is a role's name",
    forms: ANSWERED,
    sketch: () => one({ answer: fc.constantFrom(...HEADER_WORDS) }),
  },
  {
    label: 'unequal turns',
    forms: CHAT,
    sketch: () =>
      fc
        .tuple(
          exchange({ user: prose(), answer: fc.constantFrom(...SHORTEST) }),
          exchange({ user: prose(), answer: words() }),
        )
        .map((exchanges) => ({ exchanges })),
  },
  {
    label: 'one half begins the other',
    forms: ['preference'],
    sketch: () =>
      fc.tuple(said(), prose(), prose()).map(([user, worse, more]) => ({
        exchanges: [{ user, worse, answer: `${worse} ${more}` }],
      })),
  },
  {
    label: 'row that stands there twice',
    forms: ALL,
    sketch: () =>
      fc.tuple(one(), fc.nat(FAR_BACK)).map(([sketch, back]) => ({ ...sketch, again: { of: 'row', back } })),
  },
  { label: undefined, forms: CHAT, sketch: () => several({}, 1) },
  { label: undefined, forms: ALL, sketch: () => one() },
];

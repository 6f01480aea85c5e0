// A row that is plain text made into tokens, as trainers do it: the tokenizer's own BOS in front, EOS behind.
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Ids } from '../vocabulary.ts';
import type { Fault } from './flags.ts';
import { layOnPieces } from './lay.ts';
import type { Piece } from './piece.ts';
import { rowOf, type TaggedPiece } from './piece-row.ts';
import { withoutPrompt } from './prompt.ts';
import type { Made, TokenRow, TrainOn, ViewOptions } from './row.ts';
import { repetitionNotes, wordingNotes } from './rules/texts.ts';
import type { TextShape } from './shape/shapes.ts';
import { withTurns } from './trained/turns.ts';

export function textRow(shape: TextShape, tokenizer: Tokenizer, options: ViewOptions): Made {
  const { prompt = '', text } = shape;
  const whole = shape.prompt === undefined;
  const spoken = [
    { text: prompt, what: 'The prompt' },
    { text, what: whole ? 'The text' : 'The completion' },
  ];
  const faults = [...emptiness(shape), ...wordingNotes(spoken), ...repetitionNotes(prompt, text)];
  const named = tokenizer.eosTokenId === undefined ? undefined : tokenizer.token(tokenizer.eosTokenId);
  const eos = options.endsText === false && !text.endsWith(named ?? '\0') ? undefined : named;
  const ended = eos !== undefined && text.endsWith(eos);
  const body = ended ? text.slice(0, -eos.length) : text;
  const target = options.trainOn ?? (whole ? 'all' : 'completion');
  const all = target === 'all';
  const piece = (made: Partial<Piece> & { text: string; trained: boolean }): TaggedPiece => ({
    role: 'completion',
    turn: 1,
    part: 'content',
    answer: !whole,
    ...made,
  });
  const pieces = [
    ...(whole ? [] : [piece({ text: prompt, role: 'prompt', turn: 0, answer: false, trained: all })]),
    piece({ text: body, trained: all || !whole }),
    ...(eos === undefined ? [] : [piece({ text: eos, role: 'stop', part: 'stop', trained: all || !whole })]),
  ];
  const texts = pieces.map((each) => each.text);
  const ids = tokenizer.encode(texts.join(''));
  const laid = layOnPieces(tokenizer, texts, ids);
  if (laid === undefined)
    return {
      faults: [
        ...faults,
        { id: 'unplaced', sentence: 'The tokens cannot be laid on the text.', columns: [] },
      ],
      assumed: [],
    };
  const names = (turn: number): string => (turn === 0 ? 'prompt' : whole ? 'text' : 'completion');
  const bare = rowOf(tokenizer, ids, pieces, laid, names);
  const row = withFront(bare, frontOf(tokenizer), all);
  const assumed = [
    assumptionOf(shape, target, frontOf(tokenizer).length > 0, ended ? undefined : eos, options),
  ];
  if (whole) {
    // A text may be a conversation already rendered: its turns are in the tokens.
    const told = withTurns(row, target, options);
    if (told !== undefined) return { row: told, faults, assumed };
    const sentence = `No turns of a conversation are to be recognised in the text, so --train-on ${target} has no meaning for it.`;
    return { faults: [...faults, { id: 'unplaced', sentence, columns: [] }], assumed };
  }
  if (all) return { row, faults, assumed };
  const made = withoutPrompt(row, tokenizer.encode(prompt, { addSpecialTokens: true }), tokenizer);
  return { row: made.row, faults: [...faults, ...made.faults], assumed };
}

// --- helpers ---

const fronts = new WeakMap<Tokenizer, Ids>();
/** A text that no tokenizer leaves out; what stands before its ids is what the tokenizer adds. */
const PROBE = 'a';

/** Ids that the tokenizer puts before a text when it is asked for special tokens, as it is by default. */
function frontOf(tokenizer: Tokenizer): Ids {
  const known = fronts.get(tokenizer);
  if (known !== undefined) return known;
  const [bare = -1] = tokenizer.encode(PROBE);
  const dressed = tokenizer.encode(PROBE, { addSpecialTokens: true });
  const front = dressed.slice(0, Math.max(0, dressed.indexOf(bare)));
  fronts.set(tokenizer, front);
  return front;
}

function withFront(row: TokenRow, front: Ids, trained: boolean): TokenRow {
  const by = front.length;
  if (by === 0) return row;
  const moved = <R extends { readonly from: number; readonly to: number }>(range: R): R => ({
    ...range,
    from: range.from + by,
    to: range.to + by,
  });
  return {
    ...row,
    ids: [...front, ...row.ids],
    trained: [...front.map(() => trained), ...row.trained],
    roles: [...front.map(() => 'prompt' as const), ...row.roles],
    turns: row.turns.map((turn, at) => (at === 0 ? { ...moved(turn), from: 0 } : moved(turn))),
    answers: row.answers.map((answer) => ({
      ...moved(answer),
      ...(answer.stop === undefined ? {} : { stop: answer.stop + by }),
    })),
    said: row.said.map(moved),
    straddles: row.straddles.map((at) => at + by),
    real: { from: 0, to: row.real.to + by },
  };
}

function emptiness({ form, prompt, text }: TextShape): Fault[] {
  const what =
    prompt === undefined
      ? 'The text'
      : form === 'prompt and completion'
        ? 'The completion'
        : `The ${form} text`;
  if (text === '') return [{ id: 'empty-answer', sentence: `${what} is empty.`, columns: [] }];
  if (text.trim() === '')
    return [{ id: 'blank-answer', sentence: `${what} is nothing but white space.`, columns: [] }];
  return [];
}

function assumptionOf(
  { form, prompt }: TextShape,
  target: TrainOn,
  front: boolean,
  added: string | undefined,
  options: ViewOptions,
): string {
  const what: Record<TrainOn, string> = {
    all: 'every token is trained',
    assistant:
      prompt === undefined ? 'every answer in it is trained' : 'all that follows the prompt is trained',
    last:
      prompt === undefined ? 'the last answer in it is trained' : 'all that follows the prompt is trained',
    completion:
      prompt === undefined ? 'the last answer in it is trained' : 'all that follows the prompt is trained',
  };
  const why =
    options.trainOn === undefined ? 'assumed, --train-on changes it' : (options.declaredBy ?? '--train-on');
  const ends = [
    ...(front ? ['the tokenizer adds BOS'] : []),
    ...(added === undefined ? [] : [`${added} is put after it, as TRL does`]),
  ];
  return `${form} (plain text): ${what[target]} (${why})${ends.length === 0 ? '' : `; ${ends.join(', ')}`}`;
}

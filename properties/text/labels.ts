// The labels of supervised fine-tuning: the answer and the token that ends it are trained, the prompt is not.
import {
  behindTurn,
  type Dialogue,
  discard,
  type Finding,
  type Ids,
  IGNORE_INDEX,
  type Need,
  type Property,
} from '../../src/index.ts';
import { answerBeginsAt, knownStops, promptBefore, promptOf, stopIds } from './conversation.ts';
import { labelFinding, ofTokenize, type RowRule, type TrainingRow } from './training-row.ts';

interface Prompted {
  /** Length of the prompt with its generation prompt, as the same route tokenises it. */
  readonly prompt: number;
  /** The row does not begin with the prompt: a token may be half prompt and half answer, and trained or not. */
  readonly parts: boolean;
}

/** Where the prompt of the last answer ends in the row. */
async function prompted({ subject, dialogue, ids, idsOf }: TrainingRow): Promise<Prompted> {
  const history = promptOf(dialogue.messages);
  const prompt = promptBefore(subject, dialogue, history, { prompt: await idsOf(history, true), row: ids });
  const shared = prompt.findIndex((id, at) => ids[at] !== id);
  return { prompt: shared < 0 ? prompt.length : shared, parts: shared >= 0 };
}

/** A rule about rows of which it is known where their prompts end. */
const ruleOf = (
  name: string,
  title: string,
  why: string,
  catches: readonly string[],
  check: (row: TrainingRow, prompted: Prompted) => Finding | undefined,
  ...needs: readonly Need[]
): RowRule => ({
  name,
  title,
  why,
  catches,
  needs,
  check: async (row) => check(row, await prompted(row)),
});

/** The label of each column as `of` has it. */
const expectedOf = (
  { ids }: TrainingRow,
  of: (column: number) => number | undefined,
): readonly (number | undefined)[] => ids.map((_, column) => of(column));

/**
 * The stop token of the last answer in a row that does not begin with the prompt: nothing but white space and other
 * stop tokens stands behind it. The first one behind the place where the two part may be that of a question.
 */
function endOf({ subject: { tokenizer }, ids }: TrainingRow, stops: Ids): number {
  const end = ids.findIndex(
    (id, column) =>
      stops.includes(id) &&
      (tokenizer === undefined
        ? ids.slice(column).every((other) => stops.includes(other))
        : behindTurn(tokenizer, ids, column, stops) === ids.length),
  );
  return end >= 0
    ? end
    : discard('the row does not begin with the prompt, and does not end with a stop token');
}

/** All tokens are trained: legal, and then nothing else is to be said of labels. */
const trainsAll = ({ subject, labels }: TrainingRow): boolean =>
  subject.semantics.sft_target === 'all' ||
  (subject.semantics.sft_target === undefined && labels.slice(1).every((label) => label !== IGNORE_INDEX));

export const labelRules: readonly RowRule[] = [
  ruleOf(
    'labels-are-the-tokens',
    'A label is its own token or -100, one a token',
    'Labels that are shifted in the data are shifted again in the loss.',
    ['LP-01', 'MSK-04', 'PAD-09', 'TRN-05'],
    (row, { prompt }) =>
      row.labels.length !== row.ids.length
        ? { kind: 'length', sentence: `The row has ${row.ids.length} ids and ${row.labels.length} labels.` }
        : labelFinding(
            row,
            'label',
            expectedOf(row, (column) => (row.labels[column] === IGNORE_INDEX ? undefined : row.ids[column])),
            (column) => column >= prompt,
            (token) => `${token} is labelled with another token.`,
          ),
  ),
  ruleOf(
    'prompt-is-not-trained',
    'SFT does not train the prompt (unless it trains everything, and says so)',
    'Labels on the prompt teach the model to write the question.',
    ['MSK-01', 'MSK-05', 'TOK-06', 'TOK-05'],
    (row, { prompt }) => {
      if (trainsAll(row)) return undefined;
      // Earlier answers are part of the prompt and may be trained; its first and last token never are.
      const answeredBefore = promptOf(row.dialogue.messages).some(({ role }) => role === 'assistant');
      const wholePrompt = !answeredBefore || row.subject.semantics.sft_target === 'last-assistant';
      return labelFinding(
        row,
        'prompt',
        expectedOf(row, (column) =>
          column < prompt && (wholePrompt || column === prompt - 1 || column === 0)
            ? IGNORE_INDEX
            : undefined,
        ),
        (column) => column >= prompt,
        (token) => `${token} belongs to the prompt, but ${row.trains} trains on it.`,
      );
    },
  ),
  ruleOf(
    'answer-is-trained',
    'SFT trains every token of the last answer',
    'An answer whose labels are all -100 trains nothing, and the loss says 0.',
    ['ZL-02', 'TOK-06', 'TPL-09', 'TPL-10', 'MSK-09', 'TRN-04', 'TOK-04'],
    (row, { prompt, parts }) => {
      if (parts && !answerBeginsAt(row.subject, row.dialogue, prompt))
        return discard(
          'the row does not begin with the prompt, so it is not known where the answer does',
          'trainer',
        );
      const stops = stopIds(row.subject) ?? [];
      const end = row.ids.findIndex((id, column) => column >= prompt && stops.includes(id));
      return labelFinding(
        row,
        'answer',
        // Nothing predicts the first token of a row.
        expectedOf(row, (column) =>
          column > 0 && column >= prompt && column < (end < 0 ? row.ids.length : end)
            ? row.ids[column]
            : undefined,
        ),
        (column) => column >= prompt,
        (token) => `${token} belongs to the last answer, but ${row.trains} does not train it.`,
      );
    },
    knownStops,
  ),
  ruleOf(
    'stop-token-is-trained',
    'SFT trains the token that ends the last answer',
    'A model whose stop token is never trained does not stop.',
    ['EOS-07', 'EOS-09', 'EOS-01'],
    (row, { prompt, parts }) => {
      const stops = stopIds(row.subject) ?? [];
      const end =
        parts && !answerBeginsAt(row.subject, row.dialogue, prompt)
          ? endOf(row, stops)
          : row.ids.findIndex((id, column) => column >= prompt && stops.includes(id));
      if (end < 0)
        return {
          kind: 'no stop',
          sentence: `No stop token (${stops.join(', ')}) ends the last answer of the training row.`,
        };
      return labelFinding(
        row,
        'stop',
        expectedOf(row, (column) => (column === end ? row.ids[column] : undefined)),
        (column) => column >= prompt,
        (token) => `${token} ends the last answer, but ${row.trains} does not train it.`,
      );
    },
    knownStops,
  ),
];

export const labelProperties: readonly Property<Dialogue>[] = labelRules.map(ofTokenize);

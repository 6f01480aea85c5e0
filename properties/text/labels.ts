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
  type Role,
  route,
  type Subject,
  stripOf,
  tokenAt,
} from '../../src/index.ts';
import { answerBeginsAt, knownStops, promptBefore, promptOf, stopIds } from './conversation.ts';
import { ask, base } from './tokenize.ts';

interface Labelled {
  readonly ids: Ids;
  readonly labels: Ids;
  /** Length of the prompt with its generation prompt, as the same route tokenises it. */
  readonly prompt: number;
  /** The row does not begin with the prompt: a token may be half prompt and half answer, and trained or not. */
  readonly parts: boolean;
}

/** The SFT row with its labels. */
async function labelled(subject: Subject, drawn: Dialogue): Promise<Labelled> {
  const row = await ask(subject, drawn, 'sft', true);
  if (row.labels === undefined) return discard('the answer has no labels', 'trainer');
  const answered = await ask(subject, drawn, 'sft', false);
  const prompt = promptBefore(subject, drawn, promptOf(drawn.messages), {
    prompt: answered.input_ids,
    row: row.input_ids,
  });
  const shared = prompt.findIndex((id, at) => row.input_ids[at] !== id);
  return {
    ids: row.input_ids,
    labels: row.labels,
    prompt: shared < 0 ? prompt.length : shared,
    parts: shared >= 0,
  };
}

function labelFinding(
  subject: Subject,
  kind: string,
  row: Labelled,
  expected: (column: number) => number | undefined,
  words: (token: string) => string,
): Finding | undefined {
  const marks = row.ids.flatMap((_, column) => {
    const want = expected(column);
    return want === undefined || want === row.labels[column] ? [] : [column];
  });
  const [first] = marks;
  if (first === undefined) return undefined;
  return {
    kind,
    sentence: words(tokenAt(subject, row.ids, first)),
    strips: [
      stripOf(subject, {
        row: 0,
        ids: row.ids,
        roles: row.ids.map((_, column): Role => (column < row.prompt ? 'prompt' : 'completion')),
        tracks: { expected: row.ids.map((_, column) => expected(column)), observed: row.labels },
        marks,
      }),
    ],
  };
}

function aboutLabels(
  id: string,
  title: string,
  why: string,
  catches: readonly string[],
  check: (subject: Subject, row: Labelled, drawn: Dialogue) => Finding | undefined,
  ...needs: readonly Need[]
): Property<Dialogue> {
  return {
    ...base,
    id,
    title,
    why,
    catches,
    needs: [route('tokenize', 'sft'), ...needs],
    async check(subject, drawn) {
      return check(subject, await labelled(subject, drawn), drawn);
    },
  };
}

/**
 * The stop token of the last answer in a row that does not begin with the prompt: nothing but white space and other
 * stop tokens stands behind it. The first one behind the place where the two part may be that of a question.
 */
function endOf({ tokenizer }: Subject, { ids }: Labelled, stops: Ids): number {
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
const trainsAll = (subject: Subject, row: Labelled): boolean =>
  subject.semantics.sft_target === 'all' ||
  (subject.semantics.sft_target === undefined &&
    row.labels.slice(1).every((label) => label !== IGNORE_INDEX));

export const labelProperties: readonly Property<Dialogue>[] = [
  aboutLabels(
    'tokenize/labels-are-the-tokens',
    'A label is its own token or -100, one a token',
    'Labels that are shifted in the data are shifted again in the loss.',
    ['LP-01', 'MSK-04', 'PAD-09', 'TRN-05'],
    (subject, row) =>
      row.labels.length !== row.ids.length
        ? { kind: 'length', sentence: `The row has ${row.ids.length} ids and ${row.labels.length} labels.` }
        : labelFinding(
            subject,
            'label',
            row,
            (column) => (row.labels[column] === IGNORE_INDEX ? undefined : row.ids[column]),
            (token) => `${token} is labelled with another token.`,
          ),
  ),
  aboutLabels(
    'tokenize/prompt-is-not-trained',
    'SFT does not train the prompt (unless it trains everything, and says so)',
    'Labels on the prompt teach the model to write the question.',
    ['MSK-01', 'MSK-05', 'TOK-06', 'TOK-05'],
    (subject, row, drawn) => {
      if (trainsAll(subject, row)) return undefined;
      // Earlier answers are part of the prompt and may be trained; its first and last token never are.
      const answeredBefore = promptOf(drawn.messages).some(({ role }) => role === 'assistant');
      const wholePrompt = !answeredBefore || subject.semantics.sft_target === 'last-assistant';
      return labelFinding(
        subject,
        'prompt',
        row,
        (column) =>
          column < row.prompt && (wholePrompt || column === row.prompt - 1 || column === 0)
            ? IGNORE_INDEX
            : undefined,
        (token) => `${token} belongs to the prompt, but SFT trains on it.`,
      );
    },
  ),
  aboutLabels(
    'tokenize/answer-is-trained',
    'SFT trains every token of the last answer',
    'An answer whose labels are all -100 trains nothing, and the loss says 0.',
    ['ZL-02', 'TOK-06', 'TPL-09', 'TPL-10', 'MSK-09', 'TRN-04', 'TOK-04'],
    (subject, row, drawn) => {
      if (row.parts && !answerBeginsAt(subject, drawn, row.prompt))
        return discard(
          'the row does not begin with the prompt, so it is not known where the answer does',
          'trainer',
        );
      const stops = stopIds(subject) ?? [];
      const end = row.ids.findIndex((id, column) => column >= row.prompt && stops.includes(id));
      return labelFinding(
        subject,
        'answer',
        row,
        // Nothing predicts the first token of a row.
        (column) =>
          column > 0 && column >= row.prompt && column < (end < 0 ? row.ids.length : end)
            ? row.ids[column]
            : undefined,
        (token) => `${token} belongs to the last answer, but SFT does not train it.`,
      );
    },
    knownStops,
  ),
  aboutLabels(
    'tokenize/stop-token-is-trained',
    'SFT trains the token that ends the last answer',
    'A model whose stop token is never trained does not stop.',
    ['EOS-07', 'EOS-09', 'EOS-01'],
    (subject, row, drawn) => {
      const stops = stopIds(subject) ?? [];
      const end =
        row.parts && !answerBeginsAt(subject, drawn, row.prompt)
          ? endOf(subject, row, stops)
          : row.ids.findIndex((id, column) => column >= row.prompt && stops.includes(id));
      if (end < 0)
        return {
          kind: 'no stop',
          sentence: `No stop token (${stops.join(', ')}) ends the last answer of the training row.`,
        };
      return labelFinding(
        subject,
        'stop',
        row,
        (column) => (column === end ? row.ids[column] : undefined),
        (token) => `${token} ends the last answer, but SFT does not train it.`,
      );
    },
    knownStops,
  ),
];

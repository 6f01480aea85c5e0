// completion_mask: which tokens the loss will see. Expectations are laid on the trainer's own rows, so any padding
// is legal; every rule is checked on batches whose rows differ, because a single row hides half of these bugs.
import {
  type Batch,
  blockArgs,
  discard,
  type Finding,
  type MaskedRow,
  maskedRows,
  type Property,
  plannedRows,
  type Role,
  type Subject,
  stripOf,
  tokenAt,
  trainsCompletion,
} from '../../../src/index.ts';
import { coverage, given, maskRule } from './batches.ts';
import { lostStopFinding, otherRowFinding } from './lost.ts';
import { otherStopNote } from './other-stop.ts';

/** One finding for the first faulty row: the sentence of its first fault, a strip with all of them. */
function faultsFinding(
  subject: Subject,
  kind: string,
  rows: readonly MaskedRow[],
  expected: (row: MaskedRow, column: number) => number | undefined,
  words: (token: string, row: number) => string,
  noteOf: (row: MaskedRow) => string | undefined = () => undefined,
): Finding | undefined {
  for (const row of rows) {
    const wanted = row.ids.map((_, column) => expected(row, column));
    const marks = wanted.flatMap((want, column) =>
      want === undefined || row.mask[column] === want ? [] : [column],
    );
    const [first] = marks;
    if (first === undefined) continue;
    const note = noteOf(row);
    return {
      kind,
      sentence: words(tokenAt(subject, row.ids, first), row.row),
      strips: [stripOf(subject, { ...row, tracks: { expected: wanted, observed: row.mask }, marks })],
      ...(note === undefined ? {} : { note }),
    };
  }
  return undefined;
}

/** 0 where the token has one of these roles, no opinion elsewhere. */
const untrained =
  (...roles: readonly Role[]) =>
  (row: MaskedRow, column: number): number | undefined =>
    roles.includes(row.roles[column] ?? 'padding') ? 0 : undefined;

function neverTrained(
  id: string,
  title: string,
  why: string,
  catches: readonly string[],
  roles: readonly Role[],
  words: (token: string, row: number) => string,
): Property<Batch> {
  return {
    ...maskRule,
    id,
    title,
    why,
    catches,
    coverage,
    async check(subject, drawn) {
      const rows = await plannedRows(subject, drawn);
      return faultsFinding(subject, id, rows, untrained(...roles), words, (row) => otherStopNote(drawn, row));
    },
  };
}

const rowHolds: Property<Batch> = {
  ...maskRule,
  id: 'mask/row-holds-prompt-and-completion',
  title: 'The row that is trained on is the prompt followed by the completion, padding elsewhere',
  why: 'Tokens lost, added or changed on the way into the training batch are trained on instead of what was sampled.',
  catches: ['EOS-06', 'MT-01', 'TPL-07', 'PAD-03', 'TOK-07'],
  coverage,
  async check(subject, drawn) {
    for (const row of await maskedRows(subject, drawn)) {
      if (row.lostStop !== undefined) return lostStopFinding(subject, row, row.lostStop);
      if (row.plan !== undefined) continue;
      return otherRowFinding(subject, row);
    }
    return undefined;
  },
};

const attention: Property<Batch> = {
  ...maskRule,
  id: 'mask/attention-covers-exactly-the-real-tokens',
  title: 'attention_mask is 1 on every token of prompt and completion and 0 on padding',
  why: 'An attention mask inferred from ids hides real stop tokens where pad equals eos; one that covers padding lets it change every logit.',
  catches: ['EOS-02', 'PAD-02', 'EOS-01'],
  coverage,
  async check(subject, drawn) {
    for (const row of await plannedRows(subject, drawn)) {
      const observed = row.attention;
      if (observed === undefined) return discard('the answer has no attention_mask', 'trainer');
      // Harmless: nothing after the stop token is trained, and a causal model does not read ahead.
      const expected = row.roles.map((role) =>
        role === 'after stop' ? undefined : Number(role !== 'padding'),
      );
      const marks = expected.flatMap((want, column) =>
        want === undefined || observed[column] === want ? [] : [column],
      );
      const [first] = marks;
      if (first === undefined) continue;
      const real = expected[first] === 1;
      return {
        kind: real ? 'hidden' : 'attended',
        sentence: real
          ? `${tokenAt(subject, row.ids, first)} is a real token of the ${row.roles[first]} in row ${row.row}, but attention_mask hides it.`
          : `${tokenAt(subject, row.ids, first)} is padding in row ${row.row}, but attention_mask lets the model see it.`,
        strips: [stripOf(subject, { ...row, tracks: { expected, observed }, marks })],
      };
    }
    return undefined;
  },
};

const everyToken: Property<Batch> = {
  ...maskRule,
  id: 'mask/every-completion-token-is-trained',
  title: 'Every sampled token up to the stop token is trained, the first one included',
  why: 'A mask shifted by one silently never trains the first token of each answer.',
  catches: ['MSK-04', 'PAD-02', 'PAD-03', 'TOK-04', 'EOS-13'],
  coverage,
  async check(subject, drawn) {
    const rows = await plannedRows(subject, drawn);
    return faultsFinding(
      subject,
      'untrained',
      rows,
      (row, column) =>
        row.roles[column] === 'completion' ? Number(trainsCompletion(subject, row)) : undefined,
      (token, row) =>
        subject.semantics.truncated_completions_trained === false
          ? `${token} has the wrong mask in row ${row}; truncated completions are declared to be left out, others trained.`
          : `${token} was sampled as part of the completion of row ${row}, but the mask does not train it.`,
    );
  },
};

const stopOnce: Property<Batch> = {
  ...maskRule,
  id: 'mask/stop-token-is-trained-once',
  title:
    'The stop token that ended a completion is trained (or, where declared, left out), the same way in every row',
  why: 'A policy whose stop token is never trained does not learn to stop.',
  catches: ['EOS-01', 'EOS-05', 'EOS-09', 'EOS-13'],
  settles: ['stop_token_in_mask', 'truncated_completions_trained'],
  given: (world) => given(world, 2),
  coverage,
  async check(subject, drawn) {
    const all = await plannedRows(subject, drawn);
    const rows = all.filter((row) => row.roles.includes('stop'));
    const declared = subject.semantics.stop_token_in_mask;
    const lost = declared === false ? undefined : all.find(({ lostStop }) => lostStop !== undefined);
    if (lost?.lostStop !== undefined) return lostStopFinding(subject, lost, lost.lostStop);
    const stopMask = (row: MaskedRow): number => row.mask[row.roles.indexOf('stop')] ?? 0;
    const [first] = rows;
    if (first === undefined) return undefined;
    const want = declared === undefined ? stopMask(first) : Number(declared);
    const finding = faultsFinding(
      subject,
      'stop',
      rows,
      (row, column) => (row.roles[column] === 'stop' ? want : undefined),
      (token, row) =>
        declared === undefined
          ? `${token} stops the completion of row ${row} and is ${want === 1 ? 'not trained' : 'trained'}, while the stop token of row ${first.row} is ${want === 1 ? 'trained' : 'not'}.`
          : `${token} stops the completion of row ${row}, but the mask ${want === 1 ? 'does not train it' : 'trains it'}; semantics.stop_token_in_mask is ${declared}.`,
    );
    return finding === undefined || declared !== undefined
      ? finding
      : {
          ...finding,
          note: 'semantics.stop_token_in_mask is not declared: either choice is accepted, but only one of them.',
        };
  },
};

/** A mask is zeros and ones; anything else multiplies the loss. */
const binary: Property<Batch> = {
  ...maskRule,
  id: 'mask/is-zero-or-one',
  title: 'completion_mask holds zeros and ones, one row a sample, as wide as the layout says',
  why: 'A mask that holds counts, positions or another batch size multiplies or misplaces the loss without an error.',
  catches: ['MSK-08', 'MSK-11', 'MSK-15', 'TRN-05'],
  async check(subject, drawn) {
    const args = blockArgs(drawn);
    const { completion_mask: mask } = await subject.ask('mask', args);
    if (mask.length !== drawn.prompts.length) {
      return {
        kind: 'rows',
        sentence: `The mask has ${mask.length} rows for a batch of ${drawn.prompts.length}.`,
      };
    }
    for (const [row, values] of mask.entries()) {
      const column = values.findIndex((value) => value !== 0 && value !== 1);
      if (column >= 0)
        return {
          kind: 'value',
          sentence: `Row ${row} of the mask holds ${values[column]} at column ${column}; a mask holds 0 and 1.`,
        };
    }
    return undefined;
  },
};

export const maskProperties: readonly Property<Batch>[] = [
  binary,
  rowHolds,
  attention,
  neverTrained(
    'mask/prompt-is-never-trained',
    'No token of the prompt is trained',
    'Training on the prompt teaches the policy to write questions, and adds gradients that no reward asked for.',
    ['MSK-01', 'MSK-04', 'PAD-02', 'TOK-05'],
    ['prompt', 'system'],
    (token, row) => `${token} belongs to the prompt of row ${row}, but the mask trains on it.`,
  ),
  neverTrained(
    'mask/padding-is-never-trained',
    'No padding is trained',
    'Trained padding drowns the answer: with long padding most of the loss is about the pad token.',
    ['MSK-06', 'PAD-02', 'PAD-03', 'EOS-03', 'PAD-11'],
    ['padding'],
    (token, row) => `${token} is padding in row ${row}, but the mask trains on it.`,
  ),
  neverTrained(
    'mask/nothing-after-the-stop-is-trained',
    'Nothing after the first stop token is trained',
    'Tokens after the stop token were never decided by the policy.',
    ['EOS-03', 'EOS-05', 'MT-04'],
    ['after stop'],
    (token, row) => `${token} stands after the stop token of row ${row}, but the mask trains on it.`,
  ),
  everyToken,
  stopOnce,
];

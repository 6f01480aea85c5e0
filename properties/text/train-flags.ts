// Train flags of messages. The same conversation is asked for with flags and without them, so that no convention need be
// known: an answer that is turned off loses its labels, and everything else keeps those it has without flags.
import {
  type Coverage,
  type Finding,
  type FlaggedBatch,
  type FlaggedDialogue,
  firstFinding,
  flaggedBatch,
  flaggedDialogue,
  flagLabels,
  IGNORE_INDEX,
  type Need,
  type Op,
  type Property,
  route,
  type Says,
  type Subject,
  sameIds,
  severalTurns,
  stripOf,
  type TrainFlagName,
  takenBy,
  withFlags,
} from '../../src/index.ts';
import { knownStops } from './conversation.ts';
import { type Answer, answersIn } from './labels-of-turns.ts';
import { argsOf, knownRows, placedRow, rowsOf, rowWorld } from './sft-batch-rows.ts';
import { labelFinding, rowAlone, type TrainingRow } from './training-row.ts';

const TITLE =
  'A message that is flagged off is not trained, and all other messages have the labels that they have without flags';

const told = {
  level: 'must',
  why: 'Bad answers are kept in the data as context, and flagged off; where the flag is lost, the model is trained on exactly these.',
  catches: ['MSK-17'],
} as const;

const coverage: Coverage = { 'an answer turned off': 0.3, 'an answer after one turned off': 0.15 };

const flags =
  (op: 'tokenize' | 'sft_batch'): Need =>
  ({ hello }) =>
    hello.ops[op]?.message_flag === undefined
      ? `op \`${op}\` does not declare message_flag: the name of the train flag that its messages may have`
      : undefined;

const nameOf = ({ hello }: Subject, op: Op): TrainFlagName => hello.ops[op]?.message_flag ?? 'train';

export const flagProperties: readonly Property<FlaggedDialogue>[] = [
  {
    ...told,
    stage: 'tokenize',
    ops: ['tokenize'],
    id: 'tokenize/train-flags-decide',
    title: TITLE,
    needs: [route('tokenize', 'sft'), flags('tokenize'), severalTurns('tokenize'), knownStops],
    given: (world) => flaggedDialogue(takenBy(world, 'tokenize')),
    labels: ({ messages, says }) => flagLabels(messages, says),
    coverage,
    async check(subject, drawn) {
      const name = nameOf(subject, 'tokenize');
      const plain = await rowAlone(subject, drawn);
      const messages = withFlags(drawn.messages, drawn.says, name);
      const row = await rowAlone(subject, { ...drawn, messages });
      return judged({ ...row, dialogue: drawn, idsOf: plain.idsOf }, plain, drawn.says, name);
    },
  },
];

export const flagBatchProperties: readonly Property<FlaggedBatch>[] = [
  {
    ...told,
    stage: 'sft_batch',
    ops: ['sft_batch'],
    id: 'sft-batch/train-flags-decide',
    title: `In each row of a padded batch: ${TITLE}`,
    needs: [knownRows, flags('sft_batch'), severalTurns('sft_batch'), (world) => knownStops(rowWorld(world))],
    given: (world) => flaggedBatch(takenBy(world, 'sft_batch', 'tokenize')),
    labels: ({ conversations, says }) => [
      ...new Set(conversations.flatMap((messages, row) => flagLabels(messages, says[row] ?? []))),
    ],
    coverage,
    async check(subject, drawn) {
      const name = nameOf(subject, 'sft_batch');
      const { conversations } = drawn;
      const flagged = conversations.map((messages, row) => withFlags(messages, drawn.says[row] ?? [], name));
      const [before, after] = [
        await subject.ask('sft_batch', argsOf(drawn)),
        await subject.ask('sft_batch', { ...argsOf(drawn), conversations: flagged }),
      ];
      const plain = await rowsOf(subject, conversations, before);
      const rows = await rowsOf(subject, conversations, after);
      return firstFinding(
        rows.map((row, at) => async () => {
          const other = plain[at];
          if (other === undefined) return undefined;
          return judged(placedRow(subject, row), placedRow(subject, other), drawn.says[at] ?? [], name);
        }),
      );
    },
  },
];

// --- helpers ---

async function judged(
  row: TrainingRow,
  plain: TrainingRow,
  says: readonly Says[],
  name: TrainFlagName,
): Promise<Finding | undefined> {
  if (!sameIds(row.ids, plain.ids)) return otherIds(row, plain, name);
  const answers = await answersIn(row);
  const { messages } = row.dialogue;
  const own = says.filter((_, at) => messages[at]?.role === 'assistant');
  const isAnswer = (column: number): boolean => answers.some(({ from, to }) => column >= from && column < to);
  for (const [index, answer] of answers.entries()) {
    const finding = ofAnswer(row, plain, { answer, says: own[index] ?? 'unset', name }, isAnswer);
    if (finding !== undefined) return finding;
  }
  return ofOthers(row, plain, { answers, says, name }, isAnswer);
}

function otherIds({ subject, ids, placed }: TrainingRow, plain: TrainingRow, name: string): Finding {
  const first = Math.max(
    0,
    ids.findIndex((id, at) => id !== plain.ids[at]),
  );
  return {
    kind: 'ids',
    sentence: `With the flag "${name}" on its messages the conversation has other ids from token ${first} on than without it.`,
    strips: [
      stripOf(subject, {
        row: placed?.row ?? 0,
        ids,
        roles: ids.map(() => 'prompt' as const),
        tracks: { 'without flags': ids.map((_, at) => plain.ids[at]) },
        marks: [first],
      }),
    ],
  };
}

const WORDS: Readonly<Record<Says, string>> = {
  on: 'is turned on',
  off: 'is turned off',
  null: 'has null as its flag, which says nothing',
  unset: 'has no flag',
};

interface OfAnswer {
  readonly answer: Answer;
  readonly says: Says;
  readonly name: string;
}

/** Behind a stop token, what the template writes is nobody's business. */
function ofAnswer(
  row: TrainingRow,
  plain: TrainingRow,
  { answer, says, name }: OfAnswer,
  isAnswer: (column: number) => boolean,
): Finding | undefined {
  const { from, to } = answer;
  const trains = plain.labels.slice(from, to).some((label) => label !== IGNORE_INDEX);
  // Of a convention that leaves it out, whoever is turned on may be trained or not.
  if (says === 'on' && !trains) return undefined;
  const within = (column: number): boolean => column >= from && column < to;
  const flag = `"${name}"`;
  return labelFinding(
    row,
    says === 'off' ? 'trained' : `${says} differs`,
    row.ids.map((_, column) => {
      if (!within(column)) return undefined;
      return says === 'off' ? IGNORE_INDEX : plain.labels[column];
    }),
    isAnswer,
    (token) =>
      says === 'off'
        ? `${token} belongs to an answer that ${WORDS.off} by ${flag}, but ${row.trains} trains it.`
        : `${token} belongs to an answer that ${WORDS[says]} (${flag}), but it has another label than without any flags.`,
  );
}

interface OfOthers {
  readonly answers: readonly Answer[];
  readonly says: readonly Says[];
  readonly name: string;
}

/** Between the answers nothing may be trained that is not without flags, unless somebody else may be turned on. */
function ofOthers(
  row: TrainingRow,
  plain: TrainingRow,
  { answers, says, name }: OfOthers,
  isAnswer: (column: number) => boolean,
): Finding | undefined {
  const { messages } = row.dialogue;
  const declared = row.subject.semantics.flagged_roles;
  const turnedOn = turnedOnBefore(
    answers,
    messages.map(({ role }) => role),
    says,
  );
  const between = (column: number): number =>
    answers.findIndex(({ from }) => column < from) < 0
      ? answers.length
      : answers.findIndex(({ from }) => column < from);
  const open = (column: number): boolean =>
    answers.some(({ from, to, rest }) => column >= from && column < Math.max(to, rest)) ||
    plain.labels[column] !== IGNORE_INDEX ||
    (declared === 'any' && turnedOn[between(column)] === true);
  const finding = labelFinding(
    row,
    'another message',
    row.ids.map((_, column): number | undefined => (open(column) ? undefined : IGNORE_INDEX)),
    isAnswer,
    (token) =>
      `${token} belongs to no answer, but with the flag "${name}" on messages ${row.trains} trains it.`,
  );
  const legal = turnedOn.includes(true) && declared === undefined;
  return finding === undefined || !legal ? finding : { ...finding, answers: ['"flagged_roles": "any"'] };
}

/** Whether another role is turned on in front of each answer, and behind the last. */
function turnedOnBefore(
  answers: readonly Answer[],
  roles: readonly string[],
  says: readonly Says[],
): readonly boolean[] {
  const turnedOn = [...answers.map(() => false), false];
  let next = 0;
  for (const [at, role] of roles.entries()) {
    if (role === 'assistant') next++;
    else if (says[at] === 'on') turnedOn[next] = true;
  }
  return turnedOn;
}

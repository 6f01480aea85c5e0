// A row of supervised fine-tuning with its labels, wherever a trainer makes it: op `tokenize` answers it alone, `sft_batch`
// in a padded batch. A rule about it is written once, and is a property of each.
import {
  type Coverage,
  type Dialogue,
  discard,
  type Finding,
  type Ids,
  type Message,
  type Need,
  type Property,
  type Role,
  route,
  type Subject,
  stripOf,
  tokenAt,
  type World,
} from '../../src/index.ts';
import { templateArg } from './conversation.ts';
import { ask, base } from './tokenize.ts';

/** A row of a padded batch. */
export interface Placed {
  readonly row: number;
  /** The column of its first real token. */
  readonly start: number;
  /** With the padding around it. */
  readonly ids: Ids;
  readonly labels: Ids;
}

export interface TrainingRow {
  readonly subject: Subject;
  readonly dialogue: Dialogue;
  readonly ids: Ids;
  readonly labels: Ids;
  /** What trains it, as a sentence calls it. */
  readonly trains: string;
  /** Absent where it stands alone. */
  readonly placed?: Placed;
  /** A part of the conversation, as the trainer tokenises it. */
  readonly idsOf: (messages: readonly Message[], addGenerationPrompt: boolean) => Promise<Ids>;
}

/** What must hold of such a row. */
export interface RowRule {
  /** The id behind the slash. */
  readonly name: string;
  readonly title: string;
  readonly why: string;
  readonly catches: readonly string[];
  readonly needs?: readonly Need[];
  readonly settles?: NonNullable<Property['settles']>;
  /** Of rows that stand alone. */
  readonly coverage?: (world: World) => Coverage;
  readonly check: (row: TrainingRow) => Promise<Finding | undefined>;
}

/** The rule as a property of op `tokenize`. */
export function ofTokenize({ name, needs = [], check, ...rule }: RowRule): Property<Dialogue> {
  return {
    ...base,
    ...rule,
    id: `tokenize/${name}`,
    needs: [route('tokenize', 'sft'), ...needs],
    check: async (subject, drawn) => check(await rowAlone(subject, drawn)),
  };
}

export async function rowAlone(subject: Subject, dialogue: Dialogue): Promise<TrainingRow> {
  const { input_ids: ids, labels } = await ask(subject, dialogue, 'sft', true);
  if (labels === undefined) return discard('the answer has no labels', 'trainer');
  const idsOf = async (messages: readonly Message[], add_generation_prompt: boolean): Promise<Ids> =>
    (
      await subject.ask('tokenize', {
        route: 'sft',
        messages,
        add_generation_prompt,
        ...templateArg(dialogue),
      })
    ).input_ids;
  return { subject, dialogue, ids, labels, trains: 'SFT', idsOf };
}

/**
 * Labels that are other than `expected`, in the whole row as the trainer has it. Undefined: nobody's business. `words` gets the first
 * of them, and the columns of all.
 */
export function labelFinding(
  { subject, ids: own, labels, placed }: TrainingRow,
  kind: string,
  expected: readonly (number | undefined)[],
  isAnswer: (column: number) => boolean,
  words: (token: string, columns: readonly number[]) => string,
): Finding | undefined {
  const { row, start, ids, labels: observed } = placed ?? { row: 0, start: 0, ids: own, labels };
  const want = ids.map((_, column) => expected[column - start]);
  const marks = want.flatMap((label, column) =>
    label === undefined || label === observed[column] ? [] : [column],
  );
  const [first] = marks;
  if (first === undefined) return undefined;
  const roleOf = (column: number): Role => {
    if (column < 0 || column >= own.length) return 'padding';
    return isAnswer(column) ? 'completion' : 'prompt';
  };
  const token = tokenAt(subject, ids, first);
  return {
    kind,
    sentence: words(
      placed === undefined ? token : `${token} of row ${row}`,
      marks.map((column) => column - start),
    ),
    strips: [
      stripOf(subject, {
        row,
        ids,
        roles: ids.map((_, column) => roleOf(column - start)),
        tracks: { expected: want, observed },
        marks,
      }),
    ],
  };
}

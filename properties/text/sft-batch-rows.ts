// The answer of op `sft_batch`, row by row: where the conversation stands among its padding. The trainer may pad as it likes, on
// either side and to any width; what a row must hold, the chat template says, or op `tokenize`.
import {
  type Args,
  chatTemplate,
  type Dialogue,
  discard,
  type Ids,
  type Message,
  type Need,
  type Ok,
  type SftBatch,
  type Subject,
  sameIds,
  sftBatch,
  sftBatchLabels,
  takenBy,
  type World,
} from '../../src/index.ts';
import { rendered, stopIds } from './conversation.ts';
import type { IdsDiffer } from './ids-differ.ts';
import { bosId, closestTemplate, rowTest } from './tokenize.ts';
import type { TrainingRow } from './training-row.ts';

/** The ids that may be asked for as padding: the trainer's own, those that end a turn, and 0, which passes for none. */
export function padsOf(world: World): Ids {
  if (world.hello.ops.sft_batch?.pad_token_id !== true) return [];
  const own = world.hello.tokens?.pad_token_id ?? world.tokenizer?.padTokenId;
  return [...new Set([...(own === undefined ? [] : [own]), ...(stopIds(rowWorld(world)) ?? []), 0])];
}

export const given = (world: World, minRows = 1) =>
  sftBatch({
    sides: world.hello.ops.sft_batch?.padding_side ?? [],
    pads: padsOf(world),
    minRows,
    ...takenBy(world, 'sft_batch', 'tokenize'),
  });

export const labels = (drawn: SftBatch, world: World): string[] =>
  sftBatchLabels(drawn, stopIds(rowWorld(world)) ?? []);

export const base = {
  stage: 'sft_batch',
  level: 'must',
  ops: ['sft_batch'],
  given: (world: World) => given(world),
  labels,
} as const;

export const coverage = { 'unequal rows': 0.25 };

export const argsOf = ({ conversations, side, pad }: SftBatch): Args<'sft_batch'> => ({
  conversations,
  ...(side === null ? {} : { padding_side: side }),
  ...(pad === null ? {} : { pad_token_id: pad }),
});

/** Op `sft_batch` is sent no template, whatever `tokenize` takes. */
export function rowWorld<W extends World>(world: W): W {
  return { ...world, hello: { ...world.hello, ops: { ...world.hello.ops, tokenize: {} } } };
}

const tokenizes = ({ hello }: World): boolean =>
  hello.ops.tokenize !== undefined && (hello.ops.tokenize.route ?? ['sft']).includes('sft');

/** Something must say which tokens a conversation is. */
export const knownRows: Need = (world) => {
  const why = chatTemplate(world);
  return why === undefined || tokenizes(world)
    ? undefined
    : `${why}, and op \`tokenize\` has no route "sft": it is not known which tokens a conversation is`;
};

export interface BatchRow {
  readonly row: number;
  readonly messages: readonly Message[];
  /** With its padding. */
  readonly ids: Ids;
  readonly attention: Ids;
  readonly labels: Ids;
  readonly positions: () => Ids;
  /** Columns of the conversation; of what is attended to where it was not found. */
  readonly from: number;
  readonly to: number;
  readonly found: boolean;
  /** Where it was not found: the ids that it should be, and who says so. */
  readonly expected?: Pick<IdsDiffer, 'expected' | 'source' | 'column'> | undefined;
}

export async function batchRows(subject: Subject, drawn: SftBatch): Promise<readonly BatchRow[]> {
  return rowsOf(subject, drawn.conversations, await subject.ask('sft_batch', argsOf(drawn)), drawn.pad);
}

/** Conversations found in the rows of a batch, row by row. */
export function rowsOf(
  subject: Subject,
  conversations: SftBatch['conversations'],
  answer: Ok<'sft_batch'>,
  askedPad: number | null = null,
): Promise<readonly BatchRow[]> {
  const pad = askedPad ?? subject.hello.tokens?.pad_token_id;
  return Promise.all(
    conversations.map(async (messages, row): Promise<BatchRow> => {
      const [ids, attention] = [answer.input_ids[row] ?? [], answer.attention_mask[row] ?? []];
      const place = placeOf(ids, attention, pad, await testOf(subject, messages));
      const { from, to, found } = place;
      return {
        row,
        messages,
        ids,
        attention,
        labels: answer.labels[row] ?? [],
        positions: () => answer.position_ids?.[row] ?? discard('the answer has no position_ids', 'trainer'),
        ...place,
        ...(found ? {} : { expected: await expectedOf(subject, messages, ids.slice(from, to)) }),
      };
    }),
  );
}

const dialogueOf = (messages: readonly Message[]): Dialogue => ({ messages, template: null });

async function expectedOf(
  subject: Subject,
  messages: readonly Message[],
  observed: Ids,
): Promise<BatchRow['expected']> {
  const world = rowWorld(subject);
  if (rowTest(world, dialogueOf(messages)) === undefined) {
    return { expected: await alone(subject, messages), source: 'op `tokenize`' };
  }
  return closestTemplate(world, dialogueOf(messages), true, observed);
}

const alone = async (subject: Subject, messages: readonly Message[]): Promise<Ids> =>
  (await subject.ask('tokenize', { route: 'sft', messages, add_generation_prompt: false })).input_ids;

/** Whether ids are the conversation; anything is where nothing says which ids those would be. */
async function testOf(subject: Subject, messages: readonly Message[]): Promise<(ids: Ids) => boolean> {
  const test = rowTest(rowWorld(subject), dialogueOf(messages));
  if (test !== undefined) return test;
  if (!tokenizes(subject)) return () => true;
  const known = await alone(subject, messages);
  return (ids) => sameIds(ids, known);
}

/**
 * The columns of the conversation: those that are attended to, if they hold it. A mask may be wrong about padding, which is one
 * id over and over on either side; then it is the fewest columns that do.
 */
function placeOf(
  ids: Ids,
  attention: Ids,
  pad: number | undefined,
  test: (ids: Ids) => boolean,
): Pick<BatchRow, 'from' | 'to' | 'found'> {
  const first = attention.indexOf(1);
  const attended = { from: Math.max(0, first), to: first < 0 ? ids.length : attention.lastIndexOf(1) + 1 };
  const holds = ({ from, to }: { from: number; to: number }): boolean => test(ids.slice(from, to));
  if (holds(attended)) return { ...attended, found: true };
  const left = ids.findIndex((id) => id !== (pad ?? ids[0]));
  const right = ids.findLastIndex((id) => id !== (pad ?? ids.at(-1))) + 1;
  const places = Array.from({ length: Math.max(0, left) + 1 }, (_, from) =>
    Array.from({ length: ids.length - right + 1 }, (_, more) => ({ from, to: right + more })),
  ).flat();
  const found = places.sort((a, b) => a.to - a.from - (b.to - b.from)).find(holds);
  return found === undefined ? { ...attended, found: false } : { ...found, found: true };
}

/** The row without its padding, as the rules about training rows want it. */
export function placedRow(
  subject: Subject,
  { row, messages, ids, labels: all, from, to, found }: BatchRow,
): TrainingRow {
  if (!found) return discard('the row is not the conversation', 'trainer');
  const world = rowWorld(subject);
  const own = ids.slice(from, to);
  const begin = bosId(subject);
  const idsOf = async (part: readonly Message[], add_generation_prompt: boolean): Promise<Ids> => {
    const text = rendered(world, dialogueOf(messages), part, add_generation_prompt);
    if (text === undefined || subject.tokenizer === undefined)
      return (await subject.ask('tokenize', { route: 'sft', messages: part, add_generation_prompt }))
        .input_ids;
    const template = subject.tokenizer.encode(text);
    // A BOS that the template leaves to the tokenizer.
    return begin !== undefined && own[0] === begin && template[0] !== begin ? [begin, ...template] : template;
  };
  return {
    subject: world,
    dialogue: dialogueOf(messages),
    ids: own,
    labels: all.slice(from, to),
    trains: 'SFT',
    placed: { row, start: from, ids, labels: all },
    idsOf,
  };
}

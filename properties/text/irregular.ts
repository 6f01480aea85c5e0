// Labels of conversations that do not alternate: they begin with an answer, ask twice, or end with the result of a tool.
// Where each answer stands is read off the chat template alone, because many trainers cannot be asked for a part of them.
import {
  behindTurn,
  chatTemplate,
  type Dialogue,
  discard,
  type Finding,
  type Ids,
  IGNORE_INDEX,
  irregularDialogue,
  irregularLabels,
  isOfUse,
  longDialogue,
  type Need,
  type Ok,
  type Property,
  type Role,
  redrawn,
  route,
  type Subject,
  severalTurns,
  stripOf,
  tokenAt,
  type World,
} from '../../src/index.ts';
import { promptOf, rendered } from './conversation.ts';
import { bosId, prefixFinding, templateFinding } from './tokenize.ts';
import { trainedWords, untrainedWords } from './turn-words.ts';

const base = { stage: 'tokenize', ops: ['tokenize'] } as const;

/**
 * Declared, not inferred from the template: who names no stop ids may never be given such dialogues, and trains what
 * stands behind the last prompt, whoever said it.
 */
const declaredStops: Need = ({ hello }) =>
  hello.tokens === undefined ? 'hello.tokens is needed: which ids end a turn' : undefined;

interface Span {
  readonly from: number;
  /** Behind the stop token. */
  readonly to: number;
  /** Behind what the template writes after it, which may be trained or not. */
  readonly rest: number;
}

/** The ids of the template's text, and where the answers stand among them. */
function answersOf(world: World, drawn: Dialogue): { readonly ids: Ids; readonly spans: readonly Span[] } {
  const { tokenizer } = world;
  const text = rendered(world, drawn, drawn.messages, false);
  if (tokenizer === undefined || text === undefined) return discard('no chat template is known', 'trainer');
  const ids = tokenizer.encode(text);
  const columnOf = (messages: Dialogue['messages'], prompt: boolean): number => {
    const part = rendered(world, drawn, messages, prompt) ?? '';
    const before = tokenizer.encode(part);
    if (!text.startsWith(part) || before.some((id, at) => ids[at] !== id))
      return discard('the template renders earlier turns otherwise when the conversation goes on', 'trainer');
    return before.length;
  };
  const stops = world.hello.tokens?.eos_token_ids ?? [];
  const spans = drawn.messages.flatMap(({ role }, at): Span[] => {
    if (role !== 'assistant') return [];
    const from = columnOf(drawn.messages.slice(0, at), true);
    const rest = columnOf(drawn.messages.slice(0, at + 1), false);
    const stop = ids.findIndex((id, column) => column >= from && column < rest && stops.includes(id));
    if (stop < 0) return discard('an answer has no stop token of its own', 'trainer');
    return [{ from, to: stop + 1, rest: Math.max(rest, behindTurn(tokenizer, ids, stop + 1)) }];
  });
  return { ids, spans };
}

/** What the trainer's ids have more at the beginning: a BOS that the template leaves to the tokenizer. */
const ownBos = (world: World, observed: Ids, template: Ids): number =>
  observed[0] === bosId(world) && template[0] !== observed[0] ? 1 : 0;

/** What makes a row of a conversation. */
type RowOp = 'tokenize' | 'sft_batch';

/** Many trainers take conversations that alternate only, and say so in their own way. */
async function rowOf(subject: Subject, { messages }: Dialogue, op: RowOp): Promise<Ok<'tokenize'>> {
  const outcome =
    op === 'tokenize'
      ? await subject.attempt(op, { route: 'sft', messages, add_generation_prompt: false })
      : await subject.attempt(op, { conversations: [messages] });
  if ('refused' in outcome)
    return discard(`the trainer refuses the conversation: ${outcome.refused}`, 'trainer');
  if (!('attention_mask' in outcome.ok)) return outcome.ok;
  const { input_ids, attention_mask, labels } = outcome.ok;
  const real = (row: Ids = []): Ids => row.filter((_, column) => attention_mask[0]?.[column] === 1);
  return { input_ids: real(input_ids[0]), labels: real(labels[0]) };
}

async function labelled(subject: Subject, drawn: Dialogue, op: RowOp) {
  const { ids: template, spans } = answersOf(subject, drawn);
  const { input_ids: ids, labels } = await rowOf(subject, drawn, op);
  if (labels === undefined) return discard('the answer has no labels', 'trainer');
  const shift = ownBos(subject, ids, template);
  if (ids.slice(shift, shift + template.length).some((id, at) => id !== template[at]))
    return discard('the row is not the rendered template', 'trainer');
  const moved = spans.map(({ from, to, rest }) => ({
    from: from + shift,
    to: to + shift,
    rest: rest + shift,
  }));
  return { ids, labels, spans: moved, end: shift + template.length };
}

function spanFinding(
  subject: Subject,
  kind: string,
  row: Awaited<ReturnType<typeof labelled>>,
  expected: readonly (number | undefined)[],
  words: (token: string, columns: readonly number[]) => string,
): Finding | undefined {
  const marks = expected.flatMap((want, column) =>
    want === undefined || want === row.labels[column] ? [] : [column],
  );
  const [first] = marks;
  if (first === undefined) return undefined;
  const answer = (column: number): boolean => row.spans.some(({ from, to }) => column >= from && column < to);
  return {
    kind,
    sentence: words(tokenAt(subject, row.ids, first), marks),
    strips: [
      stripOf(subject, {
        row: 0,
        ids: row.ids,
        roles: row.ids.map((_, column): Role => (answer(column) ? 'completion' : 'prompt')),
        tracks: { expected, observed: row.labels },
        marks,
      }),
    ],
  };
}

const target =
  (...targets: readonly string[]): Need =>
  ({ semantics }) =>
    targets.includes(semantics.sft_target ?? '')
      ? undefined
      : `semantics.sft_target is not declared as ${targets.map((name) => `"${name}"`).join(' or ')}`;

/** The rules about rows of such conversations, wherever they are made. */
function irregularRows(op: RowOp): readonly Property<Dialogue>[] {
  const irregular = {
    stage: op,
    ops: [op],
    given: (world: World) =>
      redrawn(irregularDialogue({ tools: world.hello.ops[op]?.tools === true }), (drawn) =>
        isOfUse(() => answersOf(world, drawn) !== undefined),
      ),
    labels: irregularLabels,
    // No shares: a trainer may refuse any of the shapes.
  } as const;
  const id = (name: string): string => `${op === 'tokenize' ? op : 'sft-batch'}/irregular-dialogues-${name}`;
  const titled = (title: string): string => (op === 'tokenize' ? title : `In a row of a batch: ${title}`);
  const needs = [...(op === 'tokenize' ? [route(op, 'sft')] : []), severalTurns(op), chatTemplate];
  return [
    {
      ...irregular,
      id: id('train-no-question'),
      title: titled('Also where turns do not alternate, SFT trains nothing but answers'),
      level: 'must',
      why: 'Masks that pair questions with answers slip by one where a question is missing, and train the user.',
      catches: ['MSK-05', 'MSK-09', 'TPL-10', 'MSK-02'],
      needs: [...needs, declaredStops, target('assistant', 'last-assistant')],
      async check(subject, drawn) {
        const row = await labelled(subject, drawn, op);
        const expected = row.ids.map((_, column) =>
          column >= row.end || row.spans.some(({ from, rest }) => column >= from && column < rest)
            ? undefined
            : IGNORE_INDEX,
        );
        return spanFinding(subject, 'trained', row, expected, (token, columns) =>
          trainedWords(token, 'SFT', row.spans, columns),
        );
      },
    },
    {
      ...irregular,
      id: id('train-every-answer'),
      title: titled(
        'Also where turns do not alternate, every answer is trained through its stop token, if that is declared',
      ),
      level: 'should',
      why: 'A greeting, or a second answer in a row, that is silently left out is data that was paid for and is not used.',
      catches: ['MSK-05', 'MSK-09', 'TPL-09', 'TOK-06'],
      needs: [...needs, declaredStops, target('assistant')],
      async check(subject, drawn) {
        const row = await labelled(subject, drawn, op);
        const expected = row.ids.map((id, column) =>
          // Nothing predicts the first token of a row.
          column > 0 && row.spans.some(({ from, to }) => column >= from && column < to) ? id : undefined,
        );
        return spanFinding(subject, 'untrained', row, expected, (token, columns) =>
          untrainedWords(token, 'SFT', row.spans, columns),
        );
      },
    },
    {
      ...irregular,
      id: id('are-the-rendered-template'),
      title: titled(
        'Also where turns do not alternate, the ids of an SFT row are the tokens of the rendered chat template, unless the trainer refuses them',
      ),
      level: 'should',
      why: 'If only training joins, drops or moves turns, its rows are conversations that never took place, and RL prompts with different ones.',
      catches: ['TPL-06', 'TPL-09', 'TOK-12'],
      needs,
      given: (world: World) =>
        redrawn(irregularDialogue({ tools: world.hello.ops[op]?.tools === true }), (drawn) =>
          isOfUse(() => rendered(world, drawn, drawn.messages, false) !== undefined),
        ),
      async check(subject, drawn) {
        const { input_ids: observed } = await rowOf(subject, drawn, op);
        return templateFinding(subject, drawn, true, observed);
      },
    },
  ];
}

const nextPrompt: Property<Dialogue> = {
  ...base,
  id: 'tokenize/the-next-prompt-goes-on-from-the-row',
  title:
    'The row of a turn, through its stop token, is the beginning of the RL prompt of a later turn, where the template keeps earlier turns as they are',
  level: 'should',
  why: 'Where history is rewritten between two turns, a row with both turns trains answers after a conversation that they were not given for.',
  catches: ['TPL-03', 'TPL-04', 'TOK-12'],
  needs: [route('tokenize', 'sft', 'rl'), severalTurns('tokenize'), chatTemplate, declaredStops],
  given: () => longDialogue(),
  labels: ({ messages }) =>
    messages.slice(0, -1).some(({ role, content }) => role === 'assistant' && content.includes('</think>'))
      ? ['earlier thought']
      : [],
  coverage: { 'earlier thought': 0.12 },
  async check(subject, drawn) {
    const { tokenizer } = subject;
    const first = drawn.messages.findIndex(({ role }) => role === 'assistant');
    const turn = drawn.messages.slice(0, first + 1);
    const later = promptOf(drawn.messages);
    const [left, right] = [rendered(subject, drawn, turn, false), rendered(subject, drawn, later, true)];
    if (tokenizer === undefined || left === undefined || right === undefined)
      return discard('no chat template is known', 'trainer');
    const stops = subject.hello.tokens?.eos_token_ids ?? [];
    const [whole, goesOn] = [tokenizer.encode(left), tokenizer.encode(right)];
    const end = whole.findLastIndex((id) => stops.includes(id)) + 1;
    if (end === 0) return discard('the answer has no stop token of its own', 'trainer');
    if (whole.slice(0, end).some((id, at) => goesOn[at] !== id))
      return discard('the template rewrites earlier turns when the conversation goes on', 'trainer');
    const row = await subject.ask('tokenize', { route: 'sft', messages: turn, add_generation_prompt: false });
    const prompt = await subject.ask('tokenize', {
      route: 'rl',
      messages: later,
      add_generation_prompt: true,
    });
    const through = row.input_ids.slice(0, end + ownBos(subject, row.input_ids, whole));
    return prefixFinding(
      subject,
      through,
      prompt.input_ids,
      (token) =>
        `${token} is in the row of the first turn, but not at that place of the prompt of a later one.`,
    );
  },
};

export const irregularBatchProperties = irregularRows('sft_batch');

export const irregularProperties: readonly Property<Dialogue>[] = [...irregularRows('tokenize'), nextPrompt];

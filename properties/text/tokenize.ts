// From conversation to ids: SFT and RL must see the same prompt, with the right number of BOS, and SFT must train
// the answer and the token that ends it.
import {
  chatTemplate,
  type Dialogue,
  dialogueLabels,
  type Finding,
  type Ids,
  type Property,
  type Role,
  type Route,
  route,
  type Subject,
  sameIds,
  stripOf,
  tokenAt,
  type World,
} from '../../src/index.ts';
import {
  appendable,
  dialogues,
  endingIds,
  promptOf,
  rendered,
  requirePrefixPreserving,
  routesOf,
  templateArg,
} from './conversation.ts';
import { type IdsDiffer, idsFinding } from './ids-differ.ts';

export const base = {
  stage: 'tokenize',
  level: 'must',
  ops: ['tokenize'],
  given: dialogues('tokenize'),
  labels: dialogueLabels,
} as const;

export const ask = (subject: Subject, drawn: Dialogue, which: Route, whole: boolean) =>
  subject.ask('tokenize', {
    route: which,
    messages: whole ? drawn.messages : promptOf(drawn.messages),
    add_generation_prompt: !whole,
    ...templateArg(drawn),
  });

/** `prompt` must be the beginning of `row`; otherwise the first column where it is not. */
export function prefixFinding(
  subject: Subject,
  prompt: Ids,
  row: Ids,
  words: (token: string, column: number) => string,
): Finding | undefined {
  const column = prompt.findIndex((id, at) => row[at] !== id);
  if (column < 0) return undefined;
  const width = Math.max(prompt.length, row.length);
  const at = <T>(make: (index: number) => T): T[] => Array.from({ length: width }, (_, index) => make(index));
  return {
    kind: 'prefix',
    sentence: words(tokenAt(subject, prompt, column), column),
    strips: [
      stripOf(subject, {
        row: 0,
        ids: at((index) => row[index] ?? prompt[index] ?? 0),
        roles: at((index): Role => (index < prompt.length ? 'prompt' : 'completion')),
        tracks: { 'prompt ids': at((index) => prompt[index]), 'training ids': at((index) => row[index]) },
        marks: [column],
      }),
    ],
  };
}

export const parity: Property<Dialogue> = {
  ...base,
  id: 'tokenize/sft-and-rl-tokenize-the-same-prompt',
  title: 'The ids that RL generates from are the first ids of the row that SFT trains on',
  why: 'One token of difference in the prompt, and fine-tuning has taught the policy about another conversation.',
  catches: ['TPL-06', 'TOK-01', 'TOK-05', 'TOK-12', 'TPL-01'],
  needs: [route('tokenize', 'sft', 'rl')],
  async check(subject, drawn) {
    requirePrefixPreserving(subject, drawn);
    const { input_ids: prompt } = await ask(subject, drawn, 'rl', false);
    const { input_ids: row } = await ask(subject, drawn, 'sft', true);
    return prefixFinding(
      subject,
      prompt,
      row,
      (token, column) =>
        `${token} is in the prompt that RL generates from, but SFT trains on ${column < row.length ? tokenAt(subject, row, column).replace(/^Token \d+ /, '') : 'a row that ends before it'} there.`,
    );
  },
};

const generationPrompt: Property<Dialogue> = {
  ...base,
  id: 'tokenize/generation-prompt-begins-the-training-row',
  title: 'The prompt with its generation prompt is, id by id, the beginning of the row that SFT trains on',
  why: 'Where it is not, prompt length and prompt tokens disagree, and masks are placed a few tokens off.',
  catches: ['TPL-01', 'TPL-03', 'TPL-04', 'TOK-05', 'TOK-12'],
  needs: [route('tokenize', 'sft')],
  async check(subject, drawn) {
    requirePrefixPreserving(subject, drawn);
    const { input_ids: prompt } = await ask(subject, drawn, 'sft', false);
    const { input_ids: row } = await ask(subject, drawn, 'sft', true);
    return prefixFinding(
      subject,
      prompt,
      row,
      (token) =>
        `${token} is in the prompt with its generation prompt, but not at that place of the whole conversation.`,
    );
  },
};

export const bosId = (world: World): number | undefined =>
  world.hello.tokens?.bos_token_id ?? world.tokenizer?.bosTokenId;
const leading = (ids: Ids, bos: number): number => {
  const other = ids.findIndex((id) => id !== bos);
  return other < 0 ? ids.length : other;
};

const bos: Property<Dialogue> = {
  ...base,
  id: 'tokenize/exactly-the-right-number-of-bos',
  title: 'A row begins with as many BOS as the chat template says, never two',
  why: 'A doubled BOS shifts every position and is a prompt that no model was trained on; a missing one costs quality without an error.',
  catches: ['TOK-01', 'TOK-02'],
  needs: [
    (world) =>
      bosId(world) === undefined
        ? 'no BOS token is known (tokens.bos_token_id, or a tokenizer that has one)'
        : undefined,
  ],
  async check(subject, drawn) {
    const id = bosId(subject) ?? -1;
    for (const which of routesOf(subject, 'tokenize')) {
      // RL is given prompts; only SFT rows are whole conversations.
      for (const whole of which === 'sft' ? [false, true] : [false]) {
        const { input_ids: ids } = await ask(subject, drawn, which, whole);
        const observed = leading(ids, id);
        const text =
          subject.tokenizer === undefined
            ? undefined
            : rendered(subject, drawn, whole ? drawn.messages : promptOf(drawn.messages), !whole);
        const expected =
          text === undefined || subject.tokenizer === undefined
            ? undefined
            : leading(subject.tokenizer.encode(text), id);
        // A template without BOS leaves the choice to the tokenizer's own post-processing.
        const legal = expected === undefined || expected === 0 ? observed <= 1 : observed === expected;
        if (legal) continue;
        return {
          kind: observed > 1 ? 'double' : 'missing',
          sentence: `On route ${which}, the row begins with ${observed} BOS (id ${id}); ${expected === undefined ? 'at most one is right' : `the chat template says ${expected}`}.`,
          strips: [
            stripOf(subject, {
              row: 0,
              ids,
              roles: ids.map((): Role => 'prompt'),
              tracks: {},
              marks: ids.flatMap((_, at) => (at > 0 && at < observed ? [at] : [])),
            }),
          ],
        };
      }
    }
    return undefined;
  },
};

const encoded = (world: World, text: string): Ids => world.tokenizer?.encode(text) ?? [];

/**
 * The whole text in one piece, or piece by piece: a row may be put together of prompts and answers that were tokenised
 * each by itself, and that is how generation leaves it.
 */
function tokenisations(world: World, drawn: Dialogue, text: string): Ids[] {
  const ends = drawn.messages.flatMap(({ role }, at) => {
    if (role !== 'assistant') return [];
    const prompt = rendered(world, drawn, drawn.messages.slice(0, at), true);
    return prompt !== undefined && text.startsWith(prompt) ? [prompt.length] : [];
  });
  const pieces = (borders: readonly number[]): Ids =>
    [0, ...borders].flatMap((from, at) => encoded(world, text.slice(from, borders[at])));
  return [pieces([]), pieces(ends.slice(-1)), pieces(ends)];
}

const MERGE = 'merge at the boundary';

const rowLabels = (drawn: Dialogue, world: World): string[] => {
  const text = rendered(world, drawn, drawn.messages, false);
  if (text === undefined) return dialogueLabels(drawn);
  const [joint, apart] = tokenisations(world, drawn, text);
  return [...dialogueLabels(drawn), ...(sameIds(joint ?? [], apart ?? []) ? [] : [MERGE])];
};

/** An answer that a tokenizer may merge with what stands before it; the generator makes one in so many of them. */
const rowCoverage = ({ tokenizer, hello, semantics }: World): Readonly<Record<string, number>> => {
  const probe: Dialogue = {
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: '\na' },
    ],
    template: null,
  };
  const merges = tokenizer !== undefined && rowLabels(probe, { tokenizer, hello, semantics }).includes(MERGE);
  return merges ? { [MERGE]: 0.13 } : {};
};

interface Fit {
  readonly shifted: Ids;
  /** The first id of it that the row does not have at its place. */
  readonly column: number;
  readonly legal: boolean;
}

/** The row beside one tokenisation of its text; `text` where the row is a whole conversation. */
function fitOf(subject: World, observed: Ids, expected: Ids, text: string | undefined): Fit {
  const begin = bosId(subject);
  const shifted =
    begin !== undefined && observed[0] === begin && expected[0] !== begin ? [begin, ...expected] : expected;
  const column = shifted.findIndex((id, at) => observed[at] !== id);
  const rest = observed.slice(shifted.length);
  const stops = endingIds(subject);
  const [added] = rest;
  // SFT may end the row with a stop token of its own, but not with a second one.
  const restIsLegal =
    added === undefined ||
    (text !== undefined &&
      rest.length === 1 &&
      stops.has(added) &&
      appendable(subject, text, added) !== undefined);
  // ... and may leave out what a template writes behind the last stop token.
  const lastStop = shifted.findLastIndex((id) => stops.has(id));
  const cutIsLegal =
    text !== undefined &&
    observed.length < shifted.length &&
    lastStop >= 0 &&
    observed.length > lastStop &&
    column === observed.length;
  return { shifted, column, legal: (column < 0 && restIsLegal) || cutIsLegal };
}

/** Tells a training row of the conversation, as the chat template has it; undefined where none is known. */
export function rowTest(world: World, drawn: Dialogue): ((row: Ids) => boolean) | undefined {
  const text = world.tokenizer === undefined ? undefined : rendered(world, drawn, drawn.messages, false);
  if (text === undefined) return undefined;
  const known = tokenisations(world, drawn, text);
  return (row) => known.some((ids) => fitOf(world, row, ids, text).legal);
}

const BOTH_ROUTES =
  'Both routes are asked for, because the op declares none. A trainer of supervised fine-tuning alone has one: @lossproof.op(route=["sft"]). One that has both looks at `route`, and at `add_generation_prompt`.';

export function followsTemplate(which: Route): Property<Dialogue> {
  return {
    ...base,
    id: `tokenize/${which}-ids-are-the-rendered-template`,
    title:
      which === 'rl'
        ? 'The ids of an RL prompt are the tokens of the rendered chat template'
        : 'The ids of an SFT row are the tokens of the rendered chat template',
    why: 'Text stripped, markers split into ordinary characters or special tokens added between rendering and tokenising change what the model reads.',
    catches: ['TOK-01', 'TOK-07', 'TOK-12', 'TPL-01', 'TPL-06'],
    needs: [route('tokenize', which), chatTemplate],
    ...(which === 'sft' ? { labels: rowLabels, coverage: rowCoverage } : {}),
    async check(subject, drawn) {
      const whole = which === 'sft';
      const { input_ids: observed } = await ask(subject, drawn, which, whole);
      const finding = templateFinding(subject, drawn, whole, observed);
      if (finding === undefined || whole || subject.hello.ops.tokenize?.route !== undefined) return finding;
      return { ...finding, note: BOTH_ROUTES };
    },
  };
}

/** Ids that are other than those of the rendered template: of the `whole` conversation, or of the prompt before its last message. */
export function templateFinding(
  subject: Subject,
  drawn: Dialogue,
  whole: boolean,
  observed: Ids,
): Finding | undefined {
  const expected = closestTemplate(subject, drawn, whole, observed);
  return expected === undefined ? undefined : idsFinding(subject, { ...expected, observed });
}

/** The ids of the rendered template, cut up as the trainer's most likely are; `undefined`: the trainer's are legal. */
export function closestTemplate(
  world: World,
  drawn: Dialogue,
  whole: boolean,
  observed: Ids,
): Pick<IdsDiffer, 'expected' | 'source' | 'column'> | undefined {
  const text = rendered(world, drawn, whole ? drawn.messages : promptOf(drawn.messages), !whole) ?? '';
  const of = whole ? drawn : { ...drawn, messages: promptOf(drawn.messages) };
  const fits = tokenisations(world, of, text).map((ids) =>
    fitOf(world, observed, ids, whole ? text : undefined),
  );
  const [fit] = fits;
  return fit === undefined || fits.some(({ legal }) => legal)
    ? undefined
    : {
        expected: fit.shifted,
        source: 'the rendered template',
        column: fit.column < 0 ? fit.shifted.length : fit.column,
      };
}

export const tokenizeProperties: readonly Property<Dialogue>[] = [
  parity,
  generationPrompt,
  bos,
  followsTemplate('rl'),
  followsTemplate('sft'),
];

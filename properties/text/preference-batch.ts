// Preference pairs of conversations, rendered, tokenised, padded and masked in one go. Each half is a batch of training rows,
// of which the last answer is trained: the rules about those judge it.
import {
  type ChatPairs,
  chatPairLabels,
  chatPairs,
  discard,
  type Finding,
  firstFinding,
  type Ids,
  IGNORE_INDEX,
  type Message,
  type Need,
  type Ok,
  type Property,
  relations,
  type Subject,
  takenBy,
  type World,
} from '../../src/index.ts';
import { labelRules } from './labels.ts';
import { attentionFits, paddingIsBare, rowHolds } from './sft-batch.ts';
import { type BatchRow, knownRows, placedRow, rowsOf, rowWorld } from './sft-batch-rows.ts';

const HALVES = ['chosen', 'rejected'] as const;
type Half = (typeof HALVES)[number];

export const preferenceBase = {
  stage: 'preference',
  level: 'must',
  ops: ['preference_batch'],
  given: (world: World) => chatPairs(takenBy(world, 'preference_batch', 'tokenize')),
  labels: chatPairLabels,
  mayRefuse: ['empty answer'],
  coverage: {
    'halves of unequal length': 0.4,
    'one answer begins the other': 0.1,
    'empty answer': 0.1,
    thought: 0.05,
  },
} as const;

/** Of a pair, only the answers are trained. */
const pairWorld = <W extends World>(world: W): W => ({
  ...rowWorld(world),
  semantics: { ...world.semantics, sft_target: 'last-assistant' },
});

const conversations = (drawn: ChatPairs, half: Half): (readonly Message[])[] =>
  drawn.prompts.map((prompt, row) => [
    ...prompt,
    { role: 'assistant', content: drawn[half][row] ?? '' } as const,
  ]);

/** A mask as labels: what counts is to be predicted. Where there is none, of a reward model, that is nothing. */
const labelsOf = (ids: Ids, mask: Ids | undefined): number[] =>
  ids.map((id, column) => (mask?.[column] === 1 ? id : IGNORE_INDEX));

const asBatch = (answer: Ok<'preference_batch'>, half: Half): Ok<'sft_batch'> => ({
  input_ids: answer[`${half}_input_ids`],
  attention_mask: answer[`${half}_attention_mask`],
  labels: answer[`${half}_input_ids`].map((ids, row) => labelsOf(ids, answer[`${half}_mask`]?.[row])),
});

/** A rule about a row of either half. */
function ofEachHalf(
  name: string,
  title: string,
  why: string,
  catches: readonly string[],
  check: (subject: Subject, row: BatchRow, half: Half) => Promise<Finding | undefined>,
  { masked = false, needs = [] }: { readonly masked?: boolean; readonly needs?: readonly Need[] } = {},
): Property<ChatPairs> {
  return {
    ...preferenceBase,
    id: `preference/of-conversations-${name}`,
    title,
    why,
    catches,
    needs: [knownRows, ...needs],
    async check(subject, drawn) {
      const answer = await subject.ask('preference_batch', drawn);
      const bare = HALVES.find((half) => answer[`${half}_mask`] === undefined);
      if (masked && bare !== undefined) discard(`the answer has no ${bare}_mask`, 'trainer');
      const rows = await Promise.all(
        HALVES.map(async (half) =>
          (await rowsOf(subject, conversations(drawn, half), asBatch(answer, half))).map((row) => ({
            row,
            half,
          })),
        ),
      );
      return firstFinding(
        rows.flat().map(({ row, half }) => async () => {
          const found = await check(subject, row, half);
          return found === undefined
            ? undefined
            : { ...found, sentence: `In the ${half} half: ${found.sentence}` };
        }),
      );
    },
  };
}

/** The rule about training rows of this name, with the words of pairs. */
function ofRule(
  name: string,
  title: string,
  why: string,
  catches: readonly string[],
  ...more: readonly Need[]
): Property<ChatPairs> {
  const rule = labelRules.find((one) => one.name === name);
  if (rule === undefined) throw new Error(`there is no rule ${name} about training rows`);
  const needs = (rule.needs ?? []).map(
    (need): Need =>
      (world) =>
        need(pairWorld(world)),
  );
  return ofEachHalf(
    name,
    title,
    why,
    catches,
    (subject, row, half) => rule.check({ ...placedRow(pairWorld(subject), row), trains: `${half}_mask` }),
    { masked: true, needs: [...needs, ...more] },
  );
}

const countsStops: Need = ({ semantics }) =>
  semantics.stop_token_in_mask === true
    ? undefined
    : 'semantics.stop_token_in_mask is not declared as true: a stop token may be left out';

const general = relations({
  op: 'preference_batch',
  stage: 'preference',
  prefix: 'preference/of-conversations-',
  noun: 'A pair of conversations, padding left out,',
  given: (world) => chatPairs({ minRows: 2, ...takenBy(world, 'preference_batch') }),
  args: (drawn: ChatPairs) => drawn,
  labels: chatPairLabels,
  coverage: { 'halves of unequal length': 0.4 },
  observe: async (subject, args) => {
    const answer = await subject.ask('preference_batch', args);
    const fields = HALVES.flatMap((half) => {
      const real = (rows: readonly Ids[]): number[][] =>
        rows.map((row, at) =>
          row.filter((_, column) => answer[`${half}_attention_mask`][at]?.[column] === 1),
        );
      const mask = answer[`${half}_mask`];
      return [
        [`${half}_input_ids`, real(answer[`${half}_input_ids`])] as const,
        ...(mask === undefined ? [] : [[`${half}_mask`, real(mask)] as const]),
      ];
    });
    return { fields: Object.fromEntries(fields) };
  },
  allBut: [],
  relations: { 'batch-mates': { catches: ['PAD-03', 'MSK-06'] } },
});

export const preferenceBatchProperties: readonly Property<ChatPairs>[] = [
  ofEachHalf(
    'rows-are-the-conversations',
    'Each half of a pair of answers is the whole rendered conversation with its own answer, and padding',
    'An answer that is cut to what it shares with its rival, or loses its thought to the prompt, is not the one that was rated.',
    ['TRN-01', 'PAD-08', 'TPL-03'],
    async (subject, row) => rowHolds(subject, row),
  ),
  ofEachHalf(
    'attention-covers-exactly-the-tokens',
    'In both halves of a pair of answers, attention_mask is 1 on the conversation and 0 on padding',
    'A mask inferred from ids hides real stop tokens where pad equals eos.',
    ['EOS-02', 'PAD-02'],
    async (subject, row) => attentionFits(subject, row),
  ),
  ofEachHalf(
    'padding-does-not-count',
    'Padding counts in the log-probability of neither answer of a pair',
    'Padding in the sum makes the shorter answer of a pair the better one.',
    ['MSK-06', 'PAD-09'],
    async (subject, row, half) => paddingIsBare(subject, row, `${half}_mask`),
    { masked: true },
  ),
  ofRule(
    'prompt-is-not-trained',
    'The prompt counts in the log-probability of neither answer of a pair',
    'The part that both halves share should cancel. If one half counts more of it than the other, the model learns that part.',
    ['MSK-01', 'TOK-05', 'MSK-16'],
  ),
  ofRule(
    'answer-is-trained',
    'Every token of both answers of a pair counts, also in the beginning that they share',
    'A prompt that is taken to reach as far as the two answers agree leaves out what both begin with, and all of the one that begins the other.',
    ['TPL-08', 'TPL-09', 'TOK-05', 'MSK-16'],
  ),
  ofRule(
    'stop-token-is-trained',
    'The token that ends each answer of a pair counts, if that is declared',
    'If one answer is empty or the beginning of the other, only the stop token tells them apart.',
    ['EOS-07', 'EOS-01'],
    countsStops,
  ),
  ...general,
];

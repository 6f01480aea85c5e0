// Rows of tokens in ledgers, and what the rules about tokens say of them.
import type { Tokenizer } from '../../../../src/tokenizers/tokenizer.ts';
import type { LedgerSketch, TrainedRowSketch } from '../../traced.ts';
import { holds as held, judged, silent as quiet } from '../judged.ts';

/** Ids of the sketches below: 0 pads, 1 is BOS, 2 stops. */
export const tokenizer = (special: Partial<Tokenizer> = {}): Tokenizer => ({
  name: 'numbers',
  backend: 'huggingface',
  vocabSize: 100,
  encode: () => [],
  decode: (ids) => ids.map((id) => `n${id}`).join(''),
  token: (id) => `n${id}`,
  tokenId: () => undefined,
  specialIds: new Set([0, 1, 2]),
  bosTokenId: 1,
  eosTokenId: 2,
  padTokenId: 0,
  chatTemplate: undefined,
  ...special,
});

export const named = (sketch: LedgerSketch): LedgerSketch => ({ tokenizer: tokenizer(), ...sketch });
export const judge = (id: string, sketch: LedgerSketch) => judged(id, named(sketch));
export const holds = (id: string, sketch: LedgerSketch) => held(id, named(sketch));
export const silent = (id: string, sketch: LedgerSketch, why?: string) => quiet(id, named(sketch), why);

/** The columns marked in the worst finding. */
export const marks = (id: string, sketch: LedgerSketch): readonly number[] | undefined =>
  judge(id, sketch).findings[0]?.strips?.[0]?.marks;

/** A chat row: BOS, two of the question, three of the answer, stop. */
export const CHAT: TrainedRowSketch = { ids: [1, 10, 11, 20, 21, 22, 2], prompt: 3 };

/** The same, sampled by generation `at` of the sketch. */
export const sampled = (row: Partial<TrainedRowSketch> = {}, at = 0): TrainedRowSketch => ({
  ...CHAT,
  ...row,
  spans: { origin: { kind: 'generation', generations: [at] }, ...row.spans },
});
export const generation = (over = {}) => ({
  promptIds: [1, 10, 11],
  completionIds: [20, 21, 22, 2],
  ...over,
});
export const onPolicy = (row: Partial<TrainedRowSketch> = {}): LedgerSketch => ({
  rows: [sampled(row)],
  generations: [generation()],
});

/** Two turns: prompt 1 10, answer 20 2, question 11 12, answer 21 22 2. */
export const TURNS = (
  row: Partial<TrainedRowSketch> = {},
  origin = { kind: 'template' } as const,
): TrainedRowSketch => ({
  ids: [1, 10, 20, 2, 11, 12, 21, 22, 2],
  ...row,
  spans: {
    origin,
    roles: ['prompt', 'prompt', 'completion', 'stop', 'prompt', 'prompt', 'completion', 'completion', 'stop'],
    expected: [undefined, false, true, true, false, false, true, true, true],
    completions: [
      { from: 2, to: 4, stop: 3 },
      { from: 6, to: 9, stop: 8 },
    ],
    ...row.spans,
  },
});
export const toolTurns = (row: Partial<TrainedRowSketch> = {}) => {
  const { spans } = TURNS();
  return TURNS({
    ...row,
    spans: {
      ...row.spans,
      roles: spans?.roles?.map((role, t) => (t === 4 || t === 5 ? 'tool' : role)) ?? [],
    },
  });
};

export const text = (row: TrainedRowSketch): TrainedRowSketch => ({
  ...row,
  spans: { origin: { kind: 'text' }, expected: row.ids.map(() => undefined), completions: [], ...row.spans },
});

/** The prompt of CHAT. */
export const NONE = [undefined, undefined, undefined];

export const trainedAs = (targets: readonly (number | undefined)[], over = {}) =>
  targets.map((target) => (target === undefined ? undefined : { target, weight: 0.2, ...over }));

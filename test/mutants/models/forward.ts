// Trainers whose own forward pass is wrong in one place, on the checkpoints that the harness hands them.
import type { Ok, Ragged, ReferenceModel } from '../../../src/index.ts';
import { scoring, type Ways } from '../../conformance/models/forward-trainer.ts';
import { type Mutant, wrong } from '../mutant.ts';

const TOKENS = { vocab_size: 40, pad_token_id: 0, eos_token_ids: [2] };

/** Padded in a block, as generation leaves it, and right but for these ways. */
const model = (row: string | undefined, name: string, title: string, ways: Ways): Mutant =>
  wrong({
    ...(row === undefined ? {} : { row }),
    name,
    title,
    tokens: TOKENS,
    can: {
      model_score: {
        temperature: true,
        packed: true,
        reference: true,
        padding_side: ['left', 'right'],
        kl: ways.kl ?? 'exact',
      },
    },
    ops: { model_score: scoring(ways) },
  });

/** Another KL, where there is one. */
const withKl =
  (change: (kl: Ragged, ok: Ok<'model_score'>) => Ragged): NonNullable<Ways['answer']> =>
  (ok) =>
    ok.kl === undefined ? ok : { ...ok, kl: change(ok.kl, ok) };

/** Rows behind the eighth are what a buffer was filled with. */
const ofEight = (rows: Ragged): Ragged => rows.map((row, at) => (at < 8 ? row : row.map(() => -1)));

export const wrongModels: readonly Mutant[] = [
  // A buffer of eight rows, made once. Fix: as many as there are.
  model('PAD-08', 'model-of-eight-rows', 'Rows behind the eighth have no scores of their own', {
    answer: (ok) => ({ ...ok, logprobs: ofEight(ok.logprobs) }),
  }),
  // position_ids were not passed, and the model counted columns. Nothing changes for a rotary model, which only knows
  // distances. Fix: position_ids = attention_mask.cumsum(-1) - 1.
  model('PAD-05', 'model-counts-padding', 'Learned positions count the padding on the left', {
    positions: 'columns',
  }),
  // The attention mask was not passed. Fix: pass it.
  model(undefined, 'model-attends-to-padding', 'The model sees the padding on the left', { pads: 'seen' }),
  // Packed without a mask of blocks. Fix: segment ids, or variable-length attention.
  model('PCK-01', 'model-mixes-packed-rows', 'Packed rows see those before them', { packed: 'mixed' }),
  model('PCK-02', 'model-packs-and-goes-on-counting', 'Learned positions go on over packed rows', {
    packed: 'counting on',
  }),
  model('LP-05', 'model-scores-at-temperature-one', 'The temperature is left out of scoring', {
    temperature: () => 1,
  }),
  model('LP-05', 'model-multiplies-by-the-temperature', 'The logits are multiplied by the temperature', {
    temperature: (asked) => 1 / asked,
  }),
  // Fix: one index for both.
  model(undefined, 'model-kl-one-token-late', 'The KL is that of the token before', {
    answer: withKl((kl) => kl.map((row) => row.map((_, at) => row[at - 1] ?? row[0] ?? 0))),
  }),
  model('KL-03', 'model-swaps-policy-and-reference', 'Policy and reference are swapped in the KL', {
    kl: 'k3',
    answer: withKl((kl, { logprobs, ref_logprobs: reference }) =>
      kl.map((row, b) =>
        row.map((_, at) => {
          const d = (logprobs[b]?.[at] ?? 0) - (reference?.[b]?.[at] ?? 0);
          return Math.expm1(d) - d;
        }),
      ),
    ),
  }),
  // The reference was made of the policy's object, not of its own folder. Fix: load it by its own path.
  model('LP-15', 'model-is-its-own-reference', 'The reference has the weights of the policy', {
    answer: (ok) =>
      ok.kl === undefined
        ? ok
        : { ...ok, ref_logprobs: ok.logprobs, kl: ok.logprobs.map((row) => row.map(() => 0)) },
  }),
  model(undefined, 'model-entropy-behind-the-token', 'The entropy is that of the next distribution', {
    answer: (ok) => ({
      ...ok,
      entropy: (ok.entropy ?? []).map((row) => row.map((value, at) => row[at + 1] ?? value)),
    }),
  }),
  model('LP-01', 'model-scores-the-next-token', 'A token has the score of the one behind it', {
    answer: (ok) => ({
      ...ok,
      logprobs: ok.logprobs.map((row) => row.map((value, at) => row[at + 1] ?? value)),
    }),
  }),
  // A loader that skips what it does not know by name. Fix: load strictly.
  model(undefined, 'model-drops-a-bias', 'The bias of queries, keys and values is not loaded', {
    weights: (loaded) =>
      changed(loaded, (name, data) => (name.endsWith('c_attn.bias') ? data.map(() => 0) : data)),
  }),
  // Two conventions of rotary positions: halves (Hugging Face) and neighbours (the original). Fix: permute on loading.
  model(undefined, 'model-pairs-neighbours', 'Rotary positions turn neighbouring entries', {
    weights: (loaded) =>
      changed(loaded, (name, data, width) =>
        /[qk]_proj/.test(name) ? neighbours(loaded, data, width) : data,
      ),
  }),
  // tie_word_embeddings was not read. Fix: share the matrix where the configuration says so.
  model(undefined, 'model-unties-its-head', 'A head that is the embedding is left as it was made', {
    weights: (loaded) =>
      loaded.config.tied
        ? {
            config: { ...loaded.config, tied: false },
            weights: new Map([...loaded.weights, ['lm_head.weight', freshHead(loaded)]]),
          }
        : loaded,
  }),
];

type Change = (name: string, data: Float64Array, width: number) => Float64Array;

function changed(model: ReferenceModel, change: Change): ReferenceModel {
  const weights = new Map(
    [...model.weights].map(([name, { shape, data }]) => [
      name,
      { shape, data: change(name, data, shape.at(-1) ?? 1) },
    ]),
  );
  return { ...model, weights };
}

/** Rows of a projection so ordered that what is paired as halves are the neighbours of before. */
function neighbours({ config }: ReferenceModel, data: Float64Array, width: number): Float64Array {
  const { headWidth } = config;
  const half = headWidth / 2;
  const out = new Float64Array(data.length);
  for (let row = 0; row < data.length / width; row++) {
    const within = row % headWidth;
    const from = row - within + (within < half ? 2 * within : 2 * (within - half) + 1);
    out.set(data.subarray(from * width, (from + 1) * width), row * width);
  }
  return out;
}

function freshHead({ config, weights }: ReferenceModel) {
  const name = config.family === 'gpt2' ? 'transformer.wte.weight' : 'model.embed_tokens.weight';
  const { shape, data } = weights.get(name) ?? { shape: [], data: new Float64Array() };
  return { shape, data: data.map((value, at) => (at % 3 === 0 ? value / 2 : value)) };
}

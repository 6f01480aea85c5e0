// A trainer around the reference's forward pass, which pads, masks, packs and counts positions as it is told: correct
// ones of every legal way, and wrong ones that are so in one place. It reads checkpoints from disk as any trainer does.
import { readCheckpoint } from '../../../src/checkpoints/folder.ts';
import {
  type Args,
  forward,
  type Ids,
  type ModelRow,
  type Ok,
  type ReferenceModel,
  reject,
} from '../../../src/index.ts';

export interface Ways {
  /** Rows flush right, flush left, or prompts flush right and completions flush left behind them. */
  readonly layout?: 'left-padded' | 'right-padded' | 'block';
  /** Positions count real tokens, or columns. */
  readonly positions?: 'tokens' | 'columns';
  readonly pads?: 'masked' | 'seen';
  /** Packed examples are apart; see each other; or only go on counting positions. */
  readonly packed?: 'apart' | 'mixed' | 'counting on';
  /** Columns of padding beyond the longest row. */
  readonly extra?: number;
  readonly temperature?: (asked: number, whose: 'policy' | 'reference') => number;
  /** Its weights, once loaded. */
  readonly weights?: (model: ReferenceModel) => ReferenceModel;
  /** Of every number in and out of the model, as another precision keeps them. */
  readonly round?: (value: number) => number;
  readonly kl?: 'exact' | 'k1' | 'k2' | 'k3' | 'abs';
  /** The last word on an answer. */
  readonly answer?: (ok: Ok<'model_score'>, args: Args<'model_score'>) => Ok<'model_score'>;
}

/** The op model_score of such a trainer. */
export function scoring(ways: Ways): (args: Args<'model_score'>) => Ok<'model_score'> {
  const { temperature = (asked) => asked } = ways;
  return (args) => {
    const policy = predicted(
      load(args.model_path, ways),
      args,
      temperature(args.temperature, 'policy'),
      ways,
    );
    const reference =
      args.reference_path === undefined
        ? undefined
        : predicted(load(args.reference_path, ways), args, temperature(args.temperature, 'reference'), ways);
    const logprobs = chosen(policy, args);
    const refLogprobs = reference === undefined ? undefined : chosen(reference, args);
    const ok: Ok<'model_score'> = {
      logprobs,
      entropy: policy.map((rows) => rows.map((row) => -sum(row.map((log) => Math.exp(log) * log)))),
      ...(refLogprobs === undefined ? {} : { ref_logprobs: refLogprobs }),
      ...(reference === undefined
        ? {}
        : { kl: klOf(ways.kl ?? 'exact', { policy, reference, logprobs, refLogprobs }) }),
    };
    return ways.answer?.(ok, args) ?? ok;
  };
}

// --- helpers ---

/** Log-softmax before each completion token, (B, C, V). */
type Predicted = readonly (readonly (readonly number[])[])[];

const loaded = new Map<string, ReferenceModel>();

function load(path: string, { weights, round }: Ways): ReferenceModel {
  let model = loaded.get(path);
  if (model === undefined) {
    const read = readCheckpoint(path);
    if ('problem' in read) return reject(read.problem);
    model = read;
    loaded.set(path, read);
  }
  const changed = weights?.(model) ?? model;
  if (round === undefined) return changed;
  const kept = new Map(
    [...changed.weights].map(([name, { shape, data }]) => [name, { shape, data: data.map(round) }]),
  );
  return { ...changed, weights: kept };
}

function predicted(
  model: ReferenceModel,
  args: Args<'model_score'>,
  temperature: number,
  ways: Ways,
): Predicted {
  const { prompt_ids: prompts, completion_ids: completions } = args;
  const round = ways.round ?? ((value) => value);
  const rows = args.packed === true ? packedRows(args, ways) : paddedRows(args, ways);
  const logits = new Map(rows.map(({ row }) => [row, forward(model, row)]));
  return completions.map((completion, b) => {
    const { row, start } = rows[b] ?? { row: { ids: [] }, start: 0 };
    return completion.map((_, at) => {
      const read = logits.get(row)?.[start + (prompts[b]?.length ?? 0) + at - 1] ?? new Float64Array();
      const scaled = [...read].map((logit) => round(round(logit) / temperature));
      const most = Math.max(...scaled);
      const total = most + Math.log(sum(scaled.map((logit) => Math.exp(logit - most))));
      return scaled.map((logit) => round(logit - total));
    });
  });
}

interface Place {
  readonly row: ModelRow;
  /** Column at which the example's prompt begins. */
  readonly start: number;
}

function paddedRows(
  { prompt_ids: prompts, completion_ids: completions, padding_side: asked }: Args<'model_score'>,
  ways: Ways,
): Place[] {
  const layout =
    asked === undefined ? (ways.layout ?? 'block') : asked === 'left' ? 'left-padded' : 'right-padded';
  const extra = ways.extra ?? 0;
  const widest = (rows: readonly Ids[]): number => Math.max(0, ...rows.map((row) => row.length));
  const whole = prompts.map((prompt, b) => [...prompt, ...(completions[b] ?? [])]);
  const promptWidth = widest(prompts) + extra;
  const width = layout === 'block' ? promptWidth + widest(completions) + extra : widest(whole) + extra;
  return whole.map((ids, b) => {
    const start =
      layout === 'right-padded'
        ? 0
        : layout === 'left-padded'
          ? width - ids.length
          : promptWidth - (prompts[b]?.length ?? 0);
    const columns = Array.from({ length: width }, (_, column) => column);
    const real = columns.map((column) => Number(column >= start && column < start + ids.length));
    return {
      start,
      row: {
        ids: columns.map((column) => ids[column - start] ?? 0),
        attention: ways.pads === 'seen' ? columns.map(() => 1) : real,
        positions: columns.map((column) =>
          ways.positions === 'columns' ? column : Math.max(0, Math.min(column - start, ids.length - 1)),
        ),
      },
    };
  });
}

function packedRows(
  { prompt_ids: prompts, completion_ids: completions }: Args<'model_score'>,
  ways: Ways,
): Place[] {
  const whole = prompts.map((prompt, b) => [...prompt, ...(completions[b] ?? [])]);
  const row: ModelRow = {
    ids: whole.flat(),
    segments:
      ways.packed === 'mixed' ? whole.flat().map(() => 0) : whole.flatMap((ids, b) => ids.map(() => b)),
    positions:
      ways.packed === 'counting on'
        ? whole.flat().map((_, at) => at)
        : whole.flatMap((ids) => ids.map((_, at) => at)),
  };
  let start = 0;
  return whole.map((ids) => {
    const place = { row, start };
    start += ids.length;
    return place;
  });
}

const chosen = (predictions: Predicted, { completion_ids: completions }: Args<'model_score'>): number[][] =>
  predictions.map((rows, b) => rows.map((row, at) => row[completions[b]?.[at] ?? -1] ?? Number.NaN));

function klOf(
  kind: NonNullable<Ways['kl']>,
  {
    policy,
    reference,
    logprobs,
    refLogprobs = [],
  }: { policy: Predicted; reference: Predicted; logprobs: number[][]; refLogprobs: number[][] | undefined },
): number[][] {
  return policy.map((rows, b) =>
    rows.map((row, at) => {
      const d = (refLogprobs[b]?.[at] ?? 0) - (logprobs[b]?.[at] ?? 0);
      if (kind === 'k1') return -d;
      if (kind === 'k2') return (d * d) / 2;
      if (kind === 'k3') return Math.expm1(d) - d;
      if (kind === 'abs') return Math.abs(d);
      return sum(row.map((log, id) => Math.exp(log) * (log - (reference[b]?.[at]?.[id] ?? 0))));
    }),
  );
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

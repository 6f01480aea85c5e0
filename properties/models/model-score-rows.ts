// What the properties of whole models share: the request, and the comparison of its answer with the reference model,
// token by token, which names the mistake that would give the same numbers.
import {
  type Args,
  type Band,
  completionLogprobs,
  type Finding,
  forward,
  type Handed,
  type ModelBatch,
  type ModelKind,
  type ModelRow,
  numberFinding,
  type Ragged,
  type Role,
  type Subject,
  show,
  stripOf,
  tokenAt,
} from '../../src/index.ts';

export type Drawn = ModelBatch<ModelKind>;

/** Each case is several forward passes of a model, the trainer's and the reference's; a fault shows in the first few. */
export const MODEL_CASES = 20;

/** The request for a case; without a temperature of its own where none may be asked for. */
export function scoreArgs(drawn: Drawn, { path }: Pick<Handed, 'path'>): Args<'model_score'> {
  return {
    model_path: path,
    prompt_ids: drawn.prompts,
    completion_ids: drawn.completions,
    temperature: drawn.temperature,
  };
}

export interface Comparison {
  readonly subject: Subject;
  readonly drawn: Drawn;
  /** "log-probability": "The log-probability of token 3 ... is". */
  readonly noun: string;
  readonly kind: string;
  readonly band: Band;
  /** (B, C), one a completion token. */
  readonly expected: Ragged;
  readonly observed: Ragged;
  /** How much more than the band a token may be off, as a factor; default 1 everywhere. */
  readonly slack?: Ragged;
  /** Default: "the reference model gives". */
  readonly against?: string;
  /** Ends "the reference model gives 1.5 ...". */
  readonly where?: string;
  /** What people compute by mistake; the first that fits every number of the case is named. */
  readonly mistakes?: readonly { readonly name: string; readonly values: () => Ragged }[];
}

/** The first completion token whose number is not the reference's. */
export function tokenDifference(comparison: Comparison): Finding | undefined {
  const { subject, drawn, noun, kind, band, expected, observed } = comparison;
  const { against = 'the reference model gives', where = '' } = comparison;
  const wrong = wrongPlaces(comparison, expected);
  const [first] = wrong;
  if (first === undefined) return undefined;
  const [row, at] = first;
  const prompt = drawn.prompts[row] ?? [];
  const completion = drawn.completions[row] ?? [];
  const ids = [...prompt, ...completion];
  const mistake = (comparison.mistakes ?? []).find(
    ({ values }) => wrongPlaces(comparison, values()).length === 0,
  );
  const tail = (values: Ragged): (number | undefined)[] => [
    ...prompt.map(() => undefined),
    ...(values[row] ?? []),
  ];
  return numberFinding({
    kind: mistake?.name ?? kind,
    sentence: `${tokenAt(subject, ids, prompt.length + at)} of row ${row}, completion token ${at}: the ${noun} is ${show(observed[row]?.[at])}, ${against} ${show(expected[row]?.[at])}${where}.${mistake === undefined ? '' : ` It equals what comes of ${mistake.name}.`}`,
    band,
    pairs: wrong.map(([b, t]) => ({
      where: `row ${b}, completion token ${t}`,
      expected: expected[b]?.[t],
      observed: observed[b]?.[t],
    })),
    strips: [
      stripOf(subject, {
        row,
        ids,
        roles: ids.map((_, column): Role => (column < prompt.length ? 'prompt' : 'completion')),
        tracks: { expected: tail(expected), observed: tail(observed) },
        marks: wrong.flatMap(([b, t]) => (b === row ? [prompt.length + t] : [])),
      }),
    ],
    note: `A ${drawn.kind} model with random weights (seed ${drawn.seed}), the same in both.`,
  });
}

function wrongPlaces({ band, observed, slack }: Comparison, expected: Ragged): [number, number][] {
  return expected.flatMap((row, b) =>
    row.flatMap((value, at): [number, number][] => {
      const off = Math.abs((observed[b]?.[at] ?? Number.NaN) - value);
      return off <= band.allowed(value) * (slack?.[b]?.[at] ?? 1) ? [] : [[b, at]];
    }),
  );
}

export const expectedLogprobs = (
  drawn: Drawn,
  { model }: Handed,
  temperature = drawn.temperature,
): number[][] => completionLogprobs(model, drawn.prompts, drawn.completions, temperature);

/** What wrong trainers make of padding, of positions, of the temperature and of the place. */
export function scoreMistakes(subject: Subject, drawn: Drawn, used: Handed): Comparison['mistakes'] {
  const padded = (how: Padded) => () =>
    paddedLogprobs(drawn, used, subject.hello.tokens?.pad_token_id ?? 0, how);
  const flush = { name: 'of rows flush right', block: false };
  const block = { name: 'of prompts flush right', block: true };
  return [
    ...[block, flush].flatMap((layout) => [
      {
        name: `positions that count the padding on the left, ${layout.name}`,
        values: padded({ ...layout, columns: true, seen: false }),
      },
      {
        name: `attention that sees the padding on the left, ${layout.name}`,
        values: padded({ ...layout, columns: false, seen: true }),
      },
      {
        name: `attention that sees the padding on the left, and positions that count it, ${layout.name}`,
        values: padded({ ...layout, columns: true, seen: true }),
      },
    ]),
    {
      name: 'logits that were not divided by the temperature',
      values: () => expectedLogprobs(drawn, used, 1),
    },
    {
      name: 'logits that were multiplied by the temperature',
      values: () => expectedLogprobs(drawn, used, 1 / drawn.temperature),
    },
  ];
}

interface Padded {
  /** Prompts are flush right and completions flush left behind them; else whole rows are flush right. */
  readonly block: boolean;
  /** Positions are numbers of columns. */
  readonly columns: boolean;
  readonly seen: boolean;
}

function paddedLogprobs(drawn: Drawn, { model }: Handed, pad: number, how: Padded): number[][] {
  const { prompts, completions, temperature } = drawn;
  const lengths = prompts.map((prompt, b) => prompt.length + (how.block ? 0 : (completions[b]?.length ?? 0)));
  const widest = Math.max(...lengths);
  return prompts.map((prompt, b) => {
    const completion = completions[b] ?? [];
    const start = widest - (lengths[b] ?? 0);
    const ids = [...Array.from({ length: start }, () => pad), ...prompt, ...completion];
    const row: ModelRow = {
      ids,
      attention: ids.map((_, column) => Number(how.seen || column >= start)),
      positions: ids.map((_, column) => (how.columns ? column : Math.max(0, column - start))),
    };
    const logits = forward(model, row);
    return completion.map((id, at) => {
      const scaled = [...(logits[start + prompt.length + at - 1] ?? [])].map((logit) => logit / temperature);
      const most = scaled.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
      const total = scaled.reduce((sum, logit) => sum + Math.exp(logit - most), 0);
      return (scaled[id] ?? Number.NaN) - most - Math.log(total);
    });
  });
}

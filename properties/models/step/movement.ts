// What one step moved the parameters by, held against finite differences of the reference model along random directions;
// and where it is not that, which token was weighed otherwise, or which parameter is off.
import {
  bandFrom,
  type Finding,
  type Handed,
  headWeights,
  type ModelKind,
  type ModelWeights,
  many,
  modelTolerance,
  numberFinding,
  parameterShapes,
  type Ragged,
  type Role,
  randomDirection,
  type Subject,
  show,
  slopesAlong,
  stripOf,
  tokenAt,
} from '../../../src/index.ts';
import type { StepLoss } from './losses.ts';

/** What a step was asked for, as rows. */
export interface Rows {
  readonly kind: ModelKind;
  readonly seed: number;
  readonly prompts: Ragged;
  readonly completions: Ragged;
  readonly learningRate: number;
  /** What a row is to the user; default: "row 0". */
  readonly rowName?: (row: number) => string;
}

/** The model before the step, and its parameters after it. */
export interface Moved {
  readonly used: Handed;
  readonly saved: ModelWeights;
}

/** What the parameters moved by, as a gradient: (before - after) / learning rate. */
function gradientOf(
  { used: { model }, saved }: Moved,
  rate: number,
): ModelWeights | { readonly missing: string } {
  const gradient = new Map<string, { shape: readonly number[]; data: Float64Array }>();
  for (const [name, shape] of parameterShapes(model.config)) {
    const [before, after] = [model.weights.get(name)?.data, saved.get(name)?.data];
    if (before === undefined || after?.length !== before.length) return { missing: name };
    gradient.set(name, { shape, data: before.map((value, i) => (value - (after[i] as number)) / rate) });
  }
  return gradient;
}

/** Along this direction: what the parameters moved by, and what each completion token would move them by. */
interface Along {
  readonly observed: number;
  readonly slopes: Ragged;
}

function along(drawn: Rows, { used }: Moved, gradient: ModelWeights, direction: ModelWeights): Along {
  let observed = 0;
  for (const [name, { data }] of direction)
    for (const [i, value] of data.entries()) observed += value * (gradient.get(name)?.data[i] as number);
  return { observed, slopes: slopesAlong(used.model, direction, drawn.prompts, drawn.completions) };
}

const weighted = (weights: Ragged, slopes: Ragged, part = (value: number): number => value): number =>
  weights.reduce(
    (sum, row, b) =>
      row.reduce((rest, weight, t) => rest + part(weight * (slopes[b]?.[t] ?? Number.NaN)), sum),
    0,
  );

/**
 * How far the product of the gradient with a standard normal direction may be off. The direction knows nothing of the
 * trainer's errors, so their product is normal with the size of the errors as its deviation: six of them. The errors are
 * those of a log-probability (modelTolerance), twice for the way back, of each token's part; and the rounding of the
 * weights to float32, where they are saved, divided by the learning rate. To that comes what the weights of the loss are
 * unsure by.
 */
function bandAlong(
  subject: Subject,
  drawn: Rows,
  { used: { model } }: Moved,
  of: { readonly size: number; readonly unsure: number },
) {
  const { config, weights } = model;
  const relative =
    2 *
    modelTolerance(subject.hello.dtype ?? 'float32', {
      layers: config.layers,
      width: config.width,
      vocabulary: config.vocabSize,
      deviation: 1 / Math.sqrt(config.width * 2 * Math.log(config.vocabSize)),
      length: Math.max(
        ...drawn.prompts.map((prompt, b) => prompt.length + (drawn.completions[b]?.length ?? 0)),
      ),
      temperature: 1,
    }).absolute;
  let squares = 0;
  for (const { data } of weights.values()) for (const value of data) squares += value * value;
  const rounding = (SAVED_ROUNDOFF * Math.sqrt(squares)) / drawn.learningRate;
  const absolute = DEVIATIONS * (relative * of.size + rounding) + of.unsure;
  return bandFrom({
    absolute,
    relative: 0,
    reason: `of a slope along a random direction: six deviations of rounding, ${Number(absolute.toPrecision(2))}`,
  });
}

const DEVIATIONS = 6;
/** Unit roundoff of float32. */
const SAVED_ROUNDOFF = 2 ** -24;
/** Random directions a case. A step that is wrong in one of them only does not exist. */
const DIRECTIONS = 2;
/** Rounding leaves a ten-thousandth; padding that is counted, most of it. */
const UNEXPLAINED = 0.01;
/** A recovered weight that differs by less than this share of the largest is not named. */
const NAMED = 0.02;

/** The first loss that fits all directions, or the nearest with what is wrong. */
export function movement(
  subject: Subject,
  drawn: Rows,
  step: Moved,
  known: readonly StepLoss[],
): Finding | undefined {
  const gradient = gradientOf(step, drawn.learningRate);
  if (!(gradient instanceof Map))
    return {
      kind: 'missing',
      sentence: `The saved model has no parameter ${(gradient as { missing: string }).missing} of the shape that it was loaded with.`,
    };
  const { config } = step.used.model;
  const lines = Array.from({ length: DIRECTIONS }, (_, at) =>
    along(drawn, step, gradient, randomDirection(config, at + 1)),
  );
  const losses = known.map((loss) => fitted(loss, lines));
  const judged = losses.map((loss) => {
    const size = Math.max(...lines.map(({ slopes }) => weighted(loss.weights, slopes, Math.abs)));
    const unsure = Math.max(...lines.map(({ slopes }) => weighted(loss.unsure ?? [], slopes, Math.abs)));
    const band = bandAlong(subject, drawn, step, { size, unsure });
    const pairs = lines
      .map(({ observed, slopes }, at) => ({
        where: `direction ${at}`,
        expected: weighted(loss.weights, slopes),
        observed,
      }))
      .filter(({ expected, observed }) => !band.close(observed, expected));
    return { loss, band, pairs };
  });
  if (judged.some(({ pairs }) => pairs.length === 0)) return undefined;
  const [nearest] = judged;
  if (nearest === undefined) return undefined;
  const { loss, band, pairs } = nearest;
  const named =
    wrongToken(subject, drawn, step, gradient, loss) ??
    wrongParameter(drawn, step, gradient, loss, band.absolute);
  return numberFinding({
    kind: named?.kind ?? 'direction',
    sentence: `After one step on ${many(drawn.completions.flat().length, 'completion token')} the parameters have not moved as the gradient of the loss (${loss.name}) says. ${named?.sentence ?? 'No single token or parameter explains it.'}`,
    band,
    pairs,
    ...(named?.strips === undefined ? {} : { strips: named.strips }),
    note: `A ${drawn.kind} model with random weights (seed ${drawn.seed}), learning rate ${drawn.learningRate}; expected by central finite differences in float64.`,
  });
}

/** A loss with an unknown constant, with the constant that fits best; at least 0. */
function fitted(loss: StepLoss, lines: readonly Along[]): StepLoss {
  if (loss.scaled === undefined) return loss;
  const slopes = lines.map((line) => weighted(loss.weights, line.slopes));
  const scale =
    slopes.reduce((sum, slope, at) => sum + slope * (lines[at]?.observed ?? 0), 0) /
    slopes.reduce((sum, slope) => sum + slope * slope, 0);
  return { ...loss, weights: loss.weights.map((row) => row.map((weight) => Math.max(0, scale) * weight)) };
}

/** Where the head is a matrix of its own, its movement tells the weight of every token, prompts included. */
function wrongToken(
  subject: Subject,
  drawn: Rows,
  { used: { model } }: Moved,
  gradient: ModelWeights,
  loss: StepLoss,
): Pick<Finding, 'kind' | 'sentence' | 'strips'> | undefined {
  const head = gradient.get('lm_head.weight')?.data;
  if (model.config.tied || head === undefined) return undefined;
  const rows = drawn.prompts.map((prompt, b) => [...prompt, ...(drawn.completions[b] ?? [])]);
  const read = headWeights(model, head, rows);
  if (read.unexplained > UNEXPLAINED)
    return {
      kind: 'states',
      sentence: `${Math.round(100 * read.unexplained)} % of what its head moved by is explained by no weights of these tokens: what the head reads, or predicts, is not what this batch gives alone; look at positions, padding and attention.`,
    };
  const observed = read.weights.map((row) => [0, ...row]);
  const expected = drawn.prompts.map((prompt, b) => [...prompt.map(() => 0), ...(loss.weights[b] ?? [])]);
  const largest = Math.max(...[...observed, ...expected].flat().map(Math.abs));
  const wrong = (b: number, t: number): boolean =>
    Math.abs((observed[b]?.[t] ?? 0) - (expected[b]?.[t] ?? 0)) > NAMED * largest;
  for (const [row, ids] of rows.entries()) {
    const marks = ids.flatMap((_, t) => (wrong(row, t) ? [t] : []));
    // A token of the prompt that is trained says more than the others, which are then weighed otherwise too.
    const [column] = marks;
    if (column === undefined) continue;
    const prompt = drawn.prompts[row]?.length ?? 0;
    return {
      kind: column < prompt ? 'prompt trained' : 'weight',
      sentence: `${tokenAt(subject, ids, column)} of ${(drawn.rowName ?? ((at) => `row ${at}`))(row)}, ${column < prompt ? 'of the prompt' : `completion token ${column - prompt}`}, was trained with the weight ${show(observed[row]?.[column])} (dL/dlogprob), which should be ${show(expected[row]?.[column])}.`,
      strips: [
        stripOf(subject, {
          row,
          ids,
          roles: ids.map((_, t): Role => (t < prompt ? 'prompt' : 'completion')),
          tracks: { expected: expected[row] ?? [], observed: observed[row] ?? [] },
          marks,
        }),
      ],
    };
  }
  return undefined;
}

/** The parameter whose own movement is furthest off, each along a direction of its own. */
function wrongParameter(
  drawn: Rows,
  step: Moved,
  gradient: ModelWeights,
  loss: StepLoss,
  allowed: number,
): Pick<Finding, 'kind' | 'sentence' | 'strips'> | undefined {
  let worst:
    | { readonly name: string; readonly off: number; readonly observed: number; readonly expected: number }
    | undefined;
  for (const [name, part] of randomDirection(step.used.model.config, 0)) {
    const { observed, slopes } = along(drawn, step, gradient, new Map([[name, part]]));
    const expected = weighted(loss.weights, slopes);
    const off = Math.abs(observed - expected);
    if (off > allowed && off > (worst?.off ?? 0)) worst = { name, off, observed, expected };
  }
  if (worst === undefined) return undefined;
  const still = (gradient.get(worst.name)?.data ?? []).every((value) => value === 0);
  return {
    kind: 'parameter',
    sentence: `Parameter ${worst.name} is furthest off: ${still ? 'it has not moved at all' : `along a random direction it moved by ${show(worst.observed)}`}, where finite differences give ${show(worst.expected)}.`,
  };
}

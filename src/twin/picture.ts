// How far two runs are apart at each place, in units of the rounding: modules by step, for a picture. What of it is a difference,
// verdict.ts says.
import type { StepDistance, TensorDistances } from './distance.ts';
import { FLOOR, MARGIN, type Units, unitsOf } from './rounding.ts';

/** In the order of what happens in a step. */
export const KINDS = ['start', 'output', 'backward', 'gradient', 'after'] as const;
export type Kind = (typeof KINDS)[number];

export interface Picture {
  readonly steps: readonly number[];
  readonly rows: readonly PictureRow[];
}

export interface PictureRow {
  /** Of a module, '' of the root; or one of WHOLE. */
  readonly name: string;
  /** Nothing of a module: of the step as a whole. */
  readonly whole: boolean;
  /** By step: the largest difference of its tensors; infinite: there is nothing to compare it with. */
  readonly cells: readonly Readonly<Partial<Record<Kind, number>>>[];
}

/** What is compared of a step as a whole, and beside which of the others it stands. */
export const WHOLE = {
  rows: ['rows and their targets', 'output'],
  logprobs: ['log-probabilities of the targets', 'output'],
  weights: ['weights of the tokens in the loss', 'backward'],
  rates: ['learning rates', 'after'],
} as const satisfies Readonly<Record<string, readonly [name: string, kind: Kind]>>;

/**
 * @param noise as for the verdict; steps without are left out
 * @param ofRows only what rows give is compared
 */
export function pictureOf(
  distances: readonly StepDistance[],
  noise: readonly StepDistance[],
  ofRows = false,
): Picture {
  const steps = distances.slice(0, noise.length);
  const columns = steps.map((distance, at) => columnOf(distance, unitsOf(noise[at] ?? distance), ofRows));
  const rows = (names: readonly string[], whole: boolean): PictureRow[] =>
    names.map((name) => ({
      name,
      whole,
      cells: columns.map((column) => column.get(keyOf(name, whole)) ?? {}),
    }));
  const wholes = Object.values(WHOLE).map(([name]) => name);
  return {
    steps: steps.map(({ step }) => step),
    rows: [...rows(wholes, true), ...rows(modulesOf(steps), false)].filter(({ cells }) =>
      cells.some((cell) => Object.keys(cell).length > 0),
    ),
  };
}

/** The module that holds a tensor, as its name has it. */
export function moduleOf(tensor: string): string {
  const name = tensor.replace(/^\d+ /, '');
  return name.slice(0, Math.max(0, name.lastIndexOf('.')));
}

// --- helpers ---

const keyOf = (name: string, whole: boolean): string => `${whole ? 'whole' : 'module'} ${name}`;

type Cell = Partial<Record<Kind, number>>;

function columnOf(distance: StepDistance, units: Units, ofRows: boolean): ReadonlyMap<string, Cell> {
  const cells = new Map<string, Cell>();
  const put = (key: string, kind: Kind, value: number): void => {
    const cell = cells.get(key) ?? {};
    cells.set(key, { ...cell, [kind]: Math.max(cell[kind] ?? 0, value) });
  };
  const whole = ([name, kind]: readonly [string, Kind], value: number): void =>
    put(keyOf(name, true), kind, value);
  const tensors = (kind: Kind, of: TensorDistances, unit: (name: string) => number): void => {
    for (const [name, { relative }] of of) put(keyOf(moduleOf(name), false), kind, relative / unit(name));
  };
  const largest = (field: 'logprob' | 'weight'): number | undefined => {
    const values = distance.tokens.flatMap((token) => token[field] ?? []);
    return values.length === 0 ? undefined : values.reduce((most, value) => Math.max(most, value), 0);
  };
  const least = FLOOR / MARGIN;
  for (const [module, value] of distance.outputs)
    put(keyOf(module, false), 'output', value / units.output(module));
  const logprob = largest('logprob');
  if (logprob !== undefined) whole(WHOLE.logprobs, logprob / units.logprob);
  if (ofRows) return cells;
  whole(WHOLE.rows, distance.alone.some((rows) => rows.length > 0) ? Number.POSITIVE_INFINITY : 0);
  tensors('start', distance.before, () => least);
  const weight = largest('weight');
  if (weight !== undefined) whole(WHOLE.weights, weight / units.weight);
  for (const [place, value] of distance.backward)
    put(keyOf(place.slice(place.indexOf(' ') + 1), false), 'backward', value / units.backward(place));
  tensors('gradient', distance.gradients, units.gradient);
  const stable = new Map([...distance.after].filter(([name]) => units.isStable(name)));
  tensors('after', stable, units.after);
  whole(WHOLE.rates, ratesApart(distance.rates) / least);
  return cells;
}

function ratesApart([first, second]: StepDistance['rates']): number {
  if (first.length !== second.length) return Number.POSITIVE_INFINITY;
  return first.reduce((most, rate, at) => {
    const apart = Math.abs(rate - (second[at] ?? 0));
    return Math.max(most, apart === 0 ? 0 : apart / Math.abs(rate));
  }, 0);
}

/** In the order in which they are called; those that only have tensors after the one that comes before them in the model. */
function modulesOf(steps: readonly StepDistance[]): readonly string[] {
  const names = [...new Set(steps.flatMap(({ outputs }) => [...outputs.keys()]))];
  const holding = [
    ...new Set(
      steps.flatMap(({ before, gradients, after }) =>
        [before, gradients, after].flatMap((tensors) => [...tensors.keys()].map(moduleOf)),
      ),
    ),
  ];
  const reached = steps.flatMap(({ backward }) =>
    [...backward.keys()].map((place) => place.slice(place.indexOf(' ') + 1)).toReversed(),
  );
  for (const list of [holding, reached]) {
    let last = -1;
    for (const name of list) {
      const at = names.indexOf(name);
      if (at < 0) names.splice(last + 1, 0, name);
      last = at < 0 ? last + 1 : at;
    }
  }
  return names;
}

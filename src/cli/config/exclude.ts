// Combinations that a configuration leaves out. An exclusion that leaves nothing out is a mistake, and is said.
import { nearestName } from '../../protocol/nearest.ts';
import type { Problem } from '../context.ts';
import type { Config, MatrixValue } from './define.ts';

type Exclusion = NonNullable<Config['exclude']>[number];

/** As much of a combination as an exclusion speaks of. */
interface Excludable {
  readonly trainer: string | undefined;
  readonly values: Readonly<Record<string, MatrixValue>>;
}

export interface Made {
  readonly matrix: NonNullable<Config['matrix']>;
  /** Names of `trainers`. */
  readonly trainers: readonly string[];
}

const TRAINER = 'trainer';

/** Those that none of `exclude` fits. */
export function excluded<C extends Excludable>(
  all: readonly C[],
  exclude: readonly Exclusion[],
  made: Made,
): readonly C[] | Problem {
  for (const [at, exclusion] of exclude.entries()) {
    if (all.some((each) => fits(each, exclusion))) continue;
    return { problem: `exclude[${at}] ${whyNone(exclusion, made)}` };
  }
  const left = all.filter((each) => !exclude.some((exclusion) => fits(each, exclusion)));
  return left.length === 0 ? { problem: 'exclude leaves nothing to run' } : left;
}

function fits({ trainer, values }: Excludable, exclusion: Exclusion): boolean {
  return Object.entries(exclusion).every(
    ([name, value]) => (name === TRAINER ? trainer : values[name]) === value,
  );
}

function whyNone(exclusion: Exclusion, { matrix, trainers }: Made): string {
  for (const [name, value] of Object.entries(exclusion)) {
    const listed = Object.hasOwn(matrix, name) ? matrix[name] : undefined;
    const known: readonly unknown[] | undefined = name === TRAINER ? trainers : listed;
    if (known === undefined)
      return `names "${name}", which is not of the matrix${nearest(name, [TRAINER, ...Object.keys(matrix)])}`;
    if (!known.includes(value))
      return name === TRAINER
        ? `names the trainer ${JSON.stringify(value)}, which there is not${nearest(String(value), trainers)}`
        : `fits nothing: ${name} is never ${JSON.stringify(value)}${nearest(String(value), known.map(String))}`;
  }
  return 'fits no combination: not every trainer is varied by every name of the matrix';
}

function nearest(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined ? '' : `, did you mean "${near}"?`;
}

// Which of several configured trainers are meant. Who names none of them, and types no other, is told which there are.
import { nearestName } from '../../protocol/nearest.ts';
import type { LoadedConfig } from '../config/config.ts';
import { type Combination, combinationsOf } from '../config/matrix.ts';
import { isProblem, type Problem } from '../context.ts';
import { fits } from './select.ts';

/** The options that name a trainer. */
export interface NamingOptions {
  /** Of those that the configuration names: `grpo`, or a glob over `grpo · tokenizer a · padding_side left`. */
  readonly trainer?: string | readonly string[];
  readonly adapter?: string;
  /** The bundled example is meant, whatever the configuration names. */
  readonly bundled?: boolean;
}

export interface Meant {
  readonly loaded: LoadedConfig | undefined;
  /** Undefined: the one trainer of the configuration, or the one that is typed. */
  readonly combinations: readonly Combination[] | undefined;
  readonly notes: readonly string[];
  /** How a trainer is typed that is none of the configuration's. */
  readonly typed: string | undefined;
}

/** Nobody said which of several is meant. */
export interface Several extends Problem {
  readonly several: readonly string[];
}

export function isSeveral(problem: Problem): problem is Several {
  return 'several' in problem;
}

export function meantBy(
  options: NamingOptions,
  command: readonly string[],
  loaded: LoadedConfig | undefined,
): Meant | Problem {
  const names = [options.trainer ?? []].flat();
  const typed = typedBy(options, command);
  if (typed !== undefined)
    return names.length === 0
      ? { loaded, combinations: undefined, notes: [], typed }
      : { problem: `--trainer names one of the configuration's; leave it out, or ${typed}` };
  const made = loaded === undefined ? undefined : combinationsOf(loaded.config);
  if (made !== undefined && isProblem(made)) return { problem: `${loaded?.file}: ${made.problem}` };
  if (made === undefined && names.length > 0) {
    const why =
      loaded === undefined ? 'there is none' : `${loaded.file} has no \`trainers\` and no \`matrix\``;
    return { problem: `--trainer names one of the configuration's trainers, and ${why}` };
  }
  const combinations = made === undefined || names.length === 0 ? made?.all : picked(made.all, names);
  if (combinations !== undefined && isProblem(combinations)) return combinations;
  return { loaded, combinations, notes: made?.notes ?? [], typed };
}

/** Refuses, and names them; `otherwise`: what else could be typed. */
export function severalMeant({ loaded, combinations = [] }: Meant, otherwise?: string): Several {
  const several = combinations.map(({ name }) => name);
  const ways = [...(otherwise === undefined ? [] : [otherwise]), '--trainer NAME means one'];
  return {
    several,
    problem: `${loaded?.file ?? 'the configuration'} has several trainers; ${ways.join(', ')}: ${listed(several)}`,
  };
}

/** In the order of the configuration, each once. A name that means none is a problem. */
function picked(all: readonly Combination[], names: readonly string[]): readonly Combination[] | Problem {
  const wrong = names.find((name) => !all.some((each) => isMeant(each, name)));
  if (wrong === undefined) return all.filter((each) => names.some((name) => isMeant(each, name)));
  const known = all.flatMap(({ name, trainer }) => [name, ...(trainer === undefined ? [] : [trainer])]);
  const near = nearestName(wrong, known);
  const hint =
    near === undefined ? `there are ${listed(all.map(({ name }) => name))}` : `did you mean "${near}"?`;
  return { problem: `the configuration has no trainer "${wrong}", ${hint}` };
}

function isMeant({ name, trainer }: Combination, wanted: string): boolean {
  return name === wanted || trainer === wanted || (wanted.includes('*') && fits(name, wanted));
}

function typedBy({ adapter, bundled }: NamingOptions, command: readonly string[]): string | undefined {
  if (bundled) return 'do not say --bundled';
  if (command.length > 0) return 'type no command after --';
  return adapter === undefined ? undefined : 'name no --adapter';
}

/** More are counted. */
const MOST_LISTED = 6;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_LISTED).map((name) => `"${name}"`);
  const more = names.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}

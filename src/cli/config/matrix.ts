// What `trainers`, `matrix` and `exclude` of a configuration mean: a list of configurations of one trainer each, with the
// names by which runs, reports and `--trainer` know them. A setting that would change nothing is refused or said: a
// column that is called after it would be green for nothing.
import { isProblem, type Problem } from '../context.ts';
import { complaintAbout } from './complaint.ts';
import type { Config, MatrixValue, TrainerConfig } from './define.ts';
import { excluded } from './exclude.ts';
import { filled, isNamedIn, keyOf, saysItself, withKey } from './fill.ts';
import { unusedName } from './unused.ts';

/** One trainer in one setting. */
export interface Combination {
  /** `grpo · tokenizer a · padding_side left`. */
  readonly name: string;
  /** Its name in `trainers`; undefined where there are none. */
  readonly trainer: string | undefined;
  /** Of the matrix, as far as this trainer uses it. */
  readonly values: Readonly<Record<string, MatrixValue>>;
  /** With none of `trainers`, `matrix` and `exclude`. */
  readonly config: Config;
}

export interface Combinations {
  readonly all: readonly Combination[];
  /** What of the matrix does not hold for whom, one sentence each. */
  readonly notes: readonly string[];
}

/** Undefined for a configuration of one trainer. */
export function combinationsOf(config: Config): Combinations | Problem | undefined {
  const { matrix = {}, exclude = [] } = config;
  if (config.trainers === undefined && config.matrix === undefined) {
    return exclude.length === 0
      ? undefined
      : { problem: 'exclude leaves combinations out, and neither trainers nor a matrix makes any' };
  }
  const doubled = doubledValue(matrix);
  if (doubled !== undefined) return doubled;
  const named = Object.entries(config.trainers ?? {}).map(([name, entry]) => oneOf(config, name, entry));
  const each = named.length === 0 ? [oneOf(config, undefined, {})] : named;
  const wrong = each.find((one) => isProblem(one));
  if (wrong !== undefined) return wrong as Problem;
  const ones = each as readonly One[];
  const used = new Set(ones.flatMap((one) => axesOf(one, matrix)));
  const entries = ones.map(({ entry }) => entry);
  const unused = unusedName(matrix, used, entries);
  if (unused !== undefined) return unused;
  const every = ones.flatMap((one) => combined(one, matrix));
  const left = excluded(every, exclude, { matrix, trainers: Object.keys(config.trainers ?? {}) });
  if (isProblem(left)) return left;
  for (const { name, config: single } of left) {
    const complaint = complaintAbout(single);
    if (complaint !== undefined) return { problem: `${name}: ${complaint}` };
  }
  return { all: left, notes: ones.flatMap((one) => notesOn(one, matrix)) };
}

/** A trainer before it is varied. */
interface One {
  readonly trainer: string | undefined;
  /** What is said of it alone. */
  readonly entry: TrainerConfig;
  /** That, over what all share; a command is words. */
  readonly base: Config;
}

type Matrix = NonNullable<Config['matrix']>;

function oneOf(config: Config, trainer: string | undefined, entry: TrainerConfig): One | Problem {
  const { trainers: _, matrix: __, exclude: ___, ...shared } = config;
  // Who names a trainer in one way does not mean the other, which all share, as well.
  const names = entry.trainer !== undefined || entry.adapter !== undefined;
  const { trainer: common, adapter, ...rest } = shared;
  const merged: Config = { ...(names ? rest : shared), ...entry };
  const semantics = { ...shared.semantics, ...entry.semantics };
  const whole = Object.keys(semantics).length === 0 ? merged : { ...merged, semantics };
  const base = filled(whole, {});
  if (isProblem(base))
    return trainer === undefined ? base : { problem: `trainers.${trainer}: ${base.problem}` };
  return { trainer, entry, base };
}

/** The names of a matrix that change something about this trainer. */
function axesOf({ entry, base }: One, matrix: Matrix): readonly string[] {
  return Object.keys(matrix).filter((name) => {
    if (isNamedIn(name, base)) return true;
    const key = keyOf(name);
    if (key === undefined || saysItself(entry, key)) return false;
    // Nothing but an adapter is started with it.
    return key !== 'python' || base.adapter !== undefined || matrix.adapter !== undefined;
  });
}

function combined(one: One, matrix: Matrix): readonly Combination[] {
  const axes = axesOf(one, matrix);
  const assignments = axes.reduce<readonly Readonly<Record<string, MatrixValue>>[]>(
    (before, name) =>
      before.flatMap((values) => (matrix[name] ?? []).map((value) => ({ ...values, [name]: value }))),
    [{}],
  );
  return assignments.map((values) => {
    // A command that can be split before it is filled can be split after: it is words by then.
    const texts = filled(one.base, values) as Config;
    const config = Object.entries(values).reduce((held, [name, value]) => {
      const key = keyOf(name);
      return key === undefined || saysItself(one.entry, key) ? held : withKey(held, key, value);
    }, texts);
    return { name: nameOf(one.trainer, values, matrix), trainer: one.trainer, values, config };
  });
}

function nameOf(trainer: string | undefined, values: Combination['values'], matrix: Matrix): string {
  const parts = Object.entries(values).map(
    ([name, value]) => `${name} ${shortly(value, matrix[name] ?? [])}`,
  );
  return [...(trainer === undefined ? [] : [trainer]), ...parts].join(' · ');
}

/** Without the folders that all of them begin with. */
function shortly(value: MatrixValue, all: readonly MatrixValue[]): string {
  const plain = (each: MatrixValue): string => String(each).replace(/(?<=.)\/+$/, '');
  const texts = all.map(plain);
  const [first = ''] = texts;
  const folders = [...first.matchAll(/\//g)].map(({ index }) => first.slice(0, index + 1));
  const common =
    folders.findLast((folder) => texts.every((text) => text.startsWith(folder) && text !== folder)) ?? '';
  return plain(value).slice(common.length);
}

function doubledValue(matrix: Matrix): Problem | undefined {
  for (const [name, values] of Object.entries(matrix)) {
    // As text: they would have one name, and fill in the same words.
    const doubled = values.find(
      (value, at) => values.findIndex((other) => String(other) === String(value)) < at,
    );
    if (doubled !== undefined) return { problem: `matrix.${name} has ${JSON.stringify(doubled)} twice` };
  }
  return undefined;
}

/** What of a matrix a trainer does not take part in, and why. */
function notesOn(one: One, matrix: Matrix): readonly string[] {
  const axes = axesOf(one, matrix);
  const who = one.trainer ?? 'the trainer';
  const untold = axes.includes('tokenizer') && isUntold(one, matrix);
  const left = Object.keys(matrix)
    .filter((name) => !axes.includes(name))
    .map((name) => {
      const key = keyOf(name);
      const why =
        key === undefined
          ? `{${name}} stands nowhere in its description`
          : saysItself(one.entry, key)
            ? 'it has its own'
            : 'only an adapter is started with it';
      return `${who} is not varied by ${name}: ${why}`;
    });
  return untold
    ? [...left, `${who} is checked with each tokenizer, but its command has no {tokenizer} that names it`]
    : left;
}

/** Its command is the same for every tokenizer; an adapter is told by us, and who is in this process may know. */
function isUntold({ base }: One, matrix: Matrix): boolean {
  const isAdapter = base.adapter !== undefined || matrix.adapter !== undefined;
  return !isAdapter && Array.isArray(base.trainer) && !isNamedIn('tokenizer', base);
}

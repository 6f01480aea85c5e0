// What `discover` found of a trainer against what its functions are: every binding is judged, and one that nobody has judged yet is
// as bad as a wrong one.
import type { Expected, MeasuredSet } from './sets.ts';

export interface Bound {
  readonly function: string;
  readonly op: string;
  readonly call: string;
  readonly variant: Readonly<Record<string, unknown>>;
  readonly broken: readonly { readonly property: string }[];
}

export interface Found {
  readonly bound: readonly Bound[];
  readonly misfits: readonly Bound[];
  readonly open: readonly { readonly function: string }[];
  readonly unfit: readonly unknown[];
  readonly uncalled: readonly unknown[];
}

export interface Judgement {
  /** Of known formulas: bound to their op with their variant. */
  readonly right: readonly Expected[];
  /** Those of them that are bound with the one finding that is expected. */
  readonly flawed: readonly Expected[];
  /** Of formulas of their own, and not bound. */
  readonly own: readonly Expected[];
  /** Bound to another op, with another variant or finding, or in spite of a formula of their own. */
  readonly wrong: readonly Bound[];
  readonly unjudged: readonly Bound[];
}

export function judged({ expected, read = [] }: MeasuredSet, found: Found): Judgement {
  const known = [...expected, ...read];
  const isBound = ({ name }: Expected): boolean => found.bound.some((bound) => bound.function === name);
  return {
    right: expected.filter((each) => each.own !== true && isRight(each, found)),
    flawed: expected.filter((each) => each.finding !== undefined && isRight(each, found)),
    own: expected.filter((each) => each.own === true && !isBound(each)),
    wrong: found.bound.filter((bound) =>
      known.some((each) => each.name === bound.function && (each.own === true || !isThis(each, bound))),
    ),
    unjudged: found.bound.filter((bound) => known.every((each) => each.name !== bound.function)),
  };
}

export function stateOf(each: Expected, found: Found): string {
  if (isRight(each, found)) return each.finding === undefined ? each.op : `${each.op} with a finding`;
  if (found.misfits.some((misfit) => misfit.function === each.name)) return 'nearly';
  if (found.open.some((open) => open.function === each.name)) return 'open';
  return found.bound.some((bound) => bound.function === each.name) ? 'with another variant' : 'not bound';
}

function isRight(each: Expected, { bound }: Found): boolean {
  return bound.some((one) => one.function === each.name && isThis(each, one));
}

function isThis({ op, variant = {}, finding }: Expected, bound: Bound): boolean {
  return (
    op === bound.op &&
    // That finding and no other: a second one would be a surprise.
    bound.broken.map(({ property }) => property).join() === (finding ?? '') &&
    Object.entries(variant).every(([key, value]) => isLike(bound.variant[key], value))
  );
}

const isLike = (measured: unknown, value: unknown): boolean =>
  typeof value === 'number' && typeof measured === 'number'
    ? Math.abs(measured - value) <= 1e-6 * Math.abs(value)
    : measured === value;

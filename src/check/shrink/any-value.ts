// Which values of the smallest case do not matter: each is replaced by others that the generator has drawn in the same
// place, and where the case fails in the same way every time, the reader may look elsewhere. The idea is Hypothesis's
// explain phase. It is about one value at a time; two that are dimmed may still matter together.
import type { CasePath } from '../events.ts';

/** A case with more values than this is read in another way. */
const MOST_VALUES = 60;
/** Fewer say little; more are paid for with a run each. */
const REPLACEMENTS = 4;

/** `stillFails` is asked for a few cases at once; what cannot be judged, or no longer, counts as not failing. */
export async function valuesThatDoNotMatter(
  given: unknown,
  samples: readonly unknown[],
  stillFails: (given: unknown) => Promise<boolean>,
): Promise<readonly CasePath[]> {
  const leaves = leavesOf(given);
  if (leaves.length > MOST_VALUES) return [];
  const drawn = new Map<string, Set<Leaf['value']>>();
  for (const { path, value } of samples.flatMap((sample) => leavesOf(sample))) {
    const place = placeOf(path);
    const values = drawn.get(place);
    if (values === undefined) drawn.set(place, new Set([value]));
    else values.add(value);
  }
  const found: CasePath[] = [];
  for (const { path, value } of leaves) {
    const others = [...(drawn.get(placeOf(path)) ?? [])].filter((other) => other !== value);
    const tried = others.slice(0, REPLACEMENTS);
    // A flag has one other value; of anything else one replacement proves nothing.
    const enough = tried.length === REPLACEMENTS || (typeof value === 'boolean' && tried.length > 0);
    if (!enough) continue;
    const failed = await Promise.all(tried.map((other) => stillFails(withValue(given, path, other))));
    if (failed.every((fails) => fails)) found.push(path);
  }
  return found;
}

interface Leaf {
  readonly path: CasePath;
  readonly value: string | number | boolean | null;
}

function leavesOf(value: unknown, path: CasePath = []): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => leavesOf(item, [...path, at]));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, item]) => leavesOf(item, [...path, key]));
  return value === undefined ? [] : [{ path, value: value as Leaf['value'] }];
}

/** The same place in every case: tokens of a row are drawn alike, whichever row and column. */
function placeOf(path: CasePath): string {
  return JSON.stringify(path.map((step) => (typeof step === 'number' ? '*' : step)));
}

function withValue(given: unknown, path: CasePath, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(given))
    return given.map((item, at) => (at === step ? withValue(item, rest, value) : item));
  const record = given as Readonly<Record<string, unknown>>;
  return { ...record, [step]: withValue(record[step], rest, value) };
}

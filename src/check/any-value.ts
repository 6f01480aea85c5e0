// Which values of the smallest case do not matter: each is replaced by others that the generator has drawn in the same
// place, and where the case fails in the same way every time, the reader may look elsewhere. The idea is Hypothesis's
// explain phase. It is about one value at a time; two that are dimmed may still matter together.
import type { CasePath } from './events.ts';

/** A case with more values than this is read in another way. */
const MOST_VALUES = 60;
/** Fewer say little; more are paid for with a run each. */
const REPLACEMENTS = 4;

/** `stillFails` may be asked for many cases at once; what cannot be judged counts as not failing. */
export async function valuesThatDoNotMatter(
  given: unknown,
  samples: readonly unknown[],
  stillFails: (given: unknown) => Promise<boolean>,
): Promise<readonly CasePath[]> {
  const leaves = leavesOf(given);
  if (leaves.length > MOST_VALUES) return [];
  const drawn = new Map<string, Leaf['value'][]>();
  for (const { path, value } of samples.flatMap((sample) => leavesOf(sample))) {
    const place = placeOf(path);
    drawn.set(place, [...(drawn.get(place) ?? []), value]);
  }
  const judged = await Promise.all(
    leaves.map(async ({ path, value }) => {
      const others = new Set(drawn.get(placeOf(path))?.filter((other) => other !== value));
      const tried = [...others].slice(0, REPLACEMENTS);
      const failed = await Promise.all(tried.map((other) => stillFails(withValue(given, path, other))));
      // A flag has one other value; of anything else one replacement proves nothing.
      const enough = tried.length === REPLACEMENTS || typeof value === 'boolean';
      return enough && tried.length > 0 && failed.every((fails) => fails);
    }),
  );
  return leaves.filter((_, at) => judged[at]).map(({ path }) => path);
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

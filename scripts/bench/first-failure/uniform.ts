// The baseline: cases of the same types as a generator's, and nothing else of it. Types are learned from a sample: of a
// number its range, of a list its lengths, of a text its letters and lengths, of a field its few values. Each is drawn
// uniformly and for itself: no entry is likelier than another, and none knows of the others. Only lists of one record that
// are always as long as each other stay so, since without that hardly a case could be laid out at all.
import { fc } from '../../../src/index.ts';

/** So many different texts are names to choose from; more are text. */
const MOST_NAMES = 16;
/** A list that is always so long at most, with entries that are not of one type: a tuple. */
const MOST_PLACES = 4;

type Fields = Readonly<Record<string, unknown>>;

export function uniformLike(cases: readonly unknown[]): fc.Arbitrary<unknown> {
  return fc.noBias(like(cases));
}

function like(values: readonly unknown[]): fc.Arbitrary<unknown> {
  const lists = values.filter((value) => Array.isArray(value));
  const records = values.filter(isFields);
  const numbers = values.filter((value) => typeof value === 'number' && Number.isFinite(value)) as number[];
  const texts = values.filter((value) => typeof value === 'string');
  const others = values.filter(
    (value) =>
      !(Array.isArray(value) || isFields(value) || typeof value === 'string' || Number.isFinite(value)),
  );
  const ways = [
    ...(lists.length > 0 ? [likeLists(lists)] : []),
    ...(records.length > 0 ? [likeRecords(records)] : []),
    ...(numbers.length > 0 ? [likeNumbers(numbers)] : []),
    ...(texts.length > 0 ? [likeTexts(texts)] : []),
    ...(others.length > 0 ? [fc.constantFrom(...new Set(others))] : []),
  ];
  return ways.length === 1 ? (ways[0] as fc.Arbitrary<unknown>) : fc.oneof(...ways);
}

function likeNumbers(numbers: readonly number[]): fc.Arbitrary<number> {
  const [min, max] = ends(numbers);
  return numbers.every(Number.isInteger)
    ? fc.integer({ min, max })
    : fc.integer({ min: 0, max: 2 ** 20 }).map((step) => min + ((max - min) * step) / 2 ** 20);
}

function likeTexts(texts: readonly string[]): fc.Arbitrary<string> {
  const different = [...new Set(texts)];
  if (different.length <= MOST_NAMES) return fc.constantFrom(...different);
  const [minLength, maxLength] = ends(texts.map((text) => [...text].length));
  const letters = [...new Set(different.flatMap((text) => [...text]))];
  return fc.string({ unit: fc.constantFrom(...letters), minLength, maxLength, size: 'max' });
}

function likeLists(lists: readonly (readonly unknown[])[]): fc.Arbitrary<unknown[]> {
  const [least, most] = ends(lists.map(({ length }) => length));
  if (most === 0) return fc.constant([]);
  const types = new Set(lists.flatMap((list) => list.map((entry) => typeof entry)));
  if (least === most && most <= MOST_PLACES && types.size > 1)
    return fc.tuple(...Array.from({ length: most }, (_, at) => like(lists.map((list) => list[at]))));
  return fc.array(like(lists.flat()), { minLength: least, maxLength: most, size: 'max' });
}

function likeRecords(records: readonly Fields[]): fc.Arbitrary<unknown> {
  const keys = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const always = keys.filter((key) => records.every((record) => key in record));
  const lists = always.filter((key) => records.every((record) => Array.isArray(record[key])));
  const lengths = (key: string): number[] => records.map((record) => (record[key] as unknown[]).length);
  /** Of each list the first one that is always as long. */
  const leader = new Map(
    lists.map((key) => [key, lists.find((other) => `${lengths(other)}` === `${lengths(key)}`) ?? key]),
  );
  const beside = lists.filter((key) =>
    lists.some((other) => other !== key && leader.get(other) === leader.get(key)),
  );
  const leaders = [...new Set(beside.map((key) => leader.get(key) as string))];
  const alone = Object.fromEntries(
    keys
      .filter((key) => !beside.includes(key))
      .map((key) => [key, like(records.filter((record) => key in record).map((record) => record[key]))]),
  );
  const entries = new Map(
    beside.map((key) => {
      const all = records.flatMap((record) => record[key] as unknown[]);
      return [key, all.length > 0 ? like(all) : fc.constant(undefined)];
    }),
  );
  const sizes = leaders.map((key) => {
    const [min, max] = ends(lengths(key));
    return fc.integer({ min, max });
  });
  return fc.tuple(...sizes).chain((drawn) => {
    const together = beside.map((key) => {
      const length = drawn[leaders.indexOf(leader.get(key) as string)] ?? 0;
      const entry = entries.get(key) as fc.Arbitrary<unknown>;
      return [key, fc.array(entry, { minLength: length, maxLength: length, size: 'max' })];
    });
    const model: Record<string, fc.Arbitrary<unknown>> = { ...alone, ...Object.fromEntries(together) };
    return fc.record(model, { requiredKeys: always });
  });
}

function ends(numbers: readonly number[]): [number, number] {
  return numbers.reduce(([least, most], each) => [Math.min(least, each), Math.max(most, each)], [
    Infinity,
    -Infinity,
  ] as [number, number]);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

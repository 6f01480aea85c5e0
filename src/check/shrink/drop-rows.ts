// A last step of shrinking: batch mates that the trouble does not need. fast-check takes elements off one end of an
// array and its rows hang together, so a faulty row in the middle keeps its neighbours; here any row may go, as far as
// the generator's own cases have so few.
import { isJsonObject } from '../../outside/decoded.ts';
import { listAt, type RowFields } from './structure.ts';

/** How many rows a case looks as if it had; undefined where its lists do not agree or nothing looks like rows. */
export function rowsOf(given: unknown): number | undefined {
  if (!isJsonObject(given)) return undefined;
  const lists = Object.keys(given)
    .map((field) => listAt(given, field))
    .filter((list) => list.some((row) => Array.isArray(row) || (isJsonObject(row) && !('role' in row))));
  const lengths = new Set(lists.map(({ length }) => length));
  const [length] = lengths;
  return lengths.size === 1 ? length : undefined;
}

/** The case without one row of these fields; every other field is kept. */
export function withoutRow<Case>(given: Case, { fields }: Pick<RowFields, 'fields'>, row: number): Case {
  if (!isJsonObject(given)) return given;
  const rest = fields.map((field) => [field, listAt(given, field).filter((_, at) => at !== row)] as const);
  return { ...given, ...Object.fromEntries(rest) };
}

/** Goes from the last row to the first and keeps what `stillFails` accepts. */
export async function dropRows<Case>(
  given: Case,
  groups: readonly RowFields[],
  stillFails: (smaller: Case) => Promise<boolean>,
): Promise<Case> {
  let smallest = given;
  const count = (group: RowFields): number | undefined => {
    if (!isJsonObject(smallest)) return undefined;
    const record = smallest;
    const lengths = new Set(group.fields.map((field) => listAt(record, field).length));
    return lengths.size === 1 ? [...lengths][0] : undefined;
  };
  for (const group of groups) {
    for (let row = (count(group) ?? 0) - 1; row >= 0; row--) {
      if ((count(group) ?? 0) <= group.least || !fits(smallest, group, (count(group) ?? 0) - 1)) break;
      const smaller = withoutRow(smallest, group, row);
      if (await stillFails(smaller)) smallest = smaller;
    }
  }
  return smallest;
}

/** An index into the rows still finds one. */
function fits(given: unknown, { below }: RowFields, rows: number): boolean {
  return below.every(({ path, margin }) => isJsonObject(given) && rows - Number(given[path[0]]) >= margin);
}

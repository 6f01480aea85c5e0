// A last step of shrinking: tokens inside a row that the trouble does not need, left out of every list that runs beside
// theirs. What generators build on stays: the token that ends a row, and which rows are the longest of the batch (a
// sampler that was not stopped fills the width).
import { isJsonObject } from '../../outside/decoded.ts';
import { listAt, type Path, type TokenFields, valueAt } from './structure.ts';

/** Goes from the last token but one to the first, row by row, and keeps what `stillFails` accepts. */
export async function dropTokens<Case>(
  given: Case,
  groups: readonly TokenFields[],
  stillFails: (smaller: Case) => Promise<boolean>,
): Promise<Case> {
  let smallest = given;
  for (const group of groups) {
    const rows = lengthsOf(smallest, group).length;
    for (let row = rows - 1; row >= 0; row--) {
      for (let token = (lengthsOf(smallest, group)[row] ?? 0) - 2; token >= 0; token--) {
        if (!mayLose(smallest, group, row)) break;
        const smaller = withoutToken(smallest, group, row, token);
        if (await stillFails(smaller)) smallest = smaller;
      }
    }
  }
  return smallest;
}

/** The case without one token of a row. */
export function withoutToken<Case>(
  given: Case,
  { paths }: Pick<TokenFields, 'paths'>,
  row: number,
  token: number,
): Case {
  if (!isJsonObject(given)) return given;
  let record: Readonly<Record<string, unknown>> = given;
  for (const path of paths) {
    const [field, key] = path;
    const list = listAt(record, field).map((entry, at) => {
      if (at !== row) return entry;
      const kept = tokensAt(entry, path).filter((_, column) => column !== token);
      return key === undefined || !isJsonObject(entry) ? kept : { ...entry, [key]: kept };
    });
    record = { ...record, [field]: list };
  }
  return record as Case;
}

function mayLose(given: unknown, group: TokenFields, row: number): boolean {
  const lengths = lengthsOf(given, group);
  const length = lengths[row] ?? 0;
  const others = lengths.filter((_, at) => at !== row);
  const widest = Math.max(0, ...others);
  if (length - 1 < group.least || length === widest) return false;
  if (!isJsonObject(given)) return false;
  return group.below.every(({ path, margin }) => {
    const value = valueAt(listAt(given, path[0])[row], path);
    return typeof value === 'number' && length - 1 - value >= margin;
  });
}

/** Tokens of each row; [] where the lists of a row do not agree, and nothing can be left out. */
function lengthsOf(given: unknown, { paths }: TokenFields): readonly number[] {
  if (!isJsonObject(given)) return [];
  const [first, ...rest] = paths.map((path) =>
    listAt(given, path[0]).map((row) => tokensAt(row, path).length),
  );
  if (first === undefined) return [];
  const agree = rest.every(
    (lengths) => lengths.length === first.length && lengths.every((length, row) => length === first[row]),
  );
  return agree ? first : [];
}

function tokensAt(row: unknown, path: Path): readonly unknown[] {
  const value = valueAt(row, path);
  return Array.isArray(value) ? value : [];
}

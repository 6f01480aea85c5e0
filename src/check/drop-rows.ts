// The last step of shrinking: batch mates that the trouble does not need. fast-check takes elements off the end of
// an array and its rows hang together, so a faulty row in the middle keeps its neighbours; here any row may go.

/** Fields that hold one entry a row, as the generators name them. */
const ROW_FIELDS = ['rows', 'prompts', 'completions', 'after'];

/** How many rows a case has, undefined where its fields do not agree or nothing in it is known to be rows. */
export function rowsOf(given: unknown): number | undefined {
  const lengths = new Set(rowFields(given).map(([, rows]) => rows.length));
  const [length] = lengths;
  return lengths.size === 1 ? length : undefined;
}

/** The case without one row; every other field is kept. */
export function withoutRow<Case>(given: Case, row: number): Case {
  const rest = rowFields(given).map(([name, rows]) => [name, rows.filter((_, at) => at !== row)] as const);
  return { ...given, ...Object.fromEntries(rest) };
}

/** Goes from the last row to the first, keeps what `stillFails` accepts, and leaves one row at least. */
export async function dropRows<Case>(
  given: Case,
  stillFails: (smaller: Case) => Promise<boolean>,
): Promise<Case> {
  let smallest = given;
  for (let row = (rowsOf(given) ?? 0) - 1; row >= 0; row--) {
    if ((rowsOf(smallest) ?? 0) <= 1) break;
    const smaller = withoutRow(smallest, row);
    if (await stillFails(smaller)) smallest = smaller;
  }
  return smallest;
}

function rowFields(given: unknown): [string, readonly unknown[]][] {
  if (typeof given !== 'object' || given === null) return [];
  return Object.entries(given).filter(
    (entry): entry is [string, unknown[]] => ROW_FIELDS.includes(entry[0]) && Array.isArray(entry[1]),
  );
}

// The smallest data set that still fails: fewer rows first, then shorter ones. It knows nothing of scripts; whoever asks
// says what failing is. Each question costs a run, so that none is asked twice, and the best so far counts at any time.

export interface Search<Row> {
  readonly rows: readonly Row[];
  /** Whether these rows fail, in the same way as all of them. */
  readonly fails: (rows: readonly Row[]) => Promise<boolean>;
  /** Questions that may be asked. */
  readonly runs: number;
  /** Sets of rows to try first, as indices: those that the failure came from. */
  readonly suspects?: readonly (readonly number[])[];
  /** A row's shorter versions, those that take most away first. */
  readonly shorter?: (row: Row) => readonly Row[];
  /** Asked before each run. */
  readonly stopped?: () => boolean;
}

export interface Smallest<Row> {
  /** All rows where nothing smaller failed. */
  readonly rows: readonly Row[];
  readonly runs: number;
  /** Nothing smaller is left to be tried: neither runs nor patience were at an end. */
  readonly done: boolean;
}

export async function smallest<Row>(search: Search<Row>): Promise<Smallest<Row>> {
  const { fails, runs: most, suspects = [], shorter = () => [], stopped = () => false } = search;
  const asked = new Set<string>();
  let best = search.rows;
  let runs = 0;
  let cut = false;

  /** Takes the rows if they fail. */
  async function take(rows: readonly Row[]): Promise<boolean> {
    if (rows.length === 0 || cut) return false;
    const key = JSON.stringify(rows);
    if (asked.has(key)) return false;
    if (runs >= most || stopped()) {
      cut = true;
      return false;
    }
    asked.add(key);
    runs++;
    // What was interrupted says nothing.
    if (!(await fails(rows)) || stopped()) return false;
    best = rows;
    return true;
  }

  asked.add(JSON.stringify(best));
  for (const some of suspects) {
    const kept = search.rows.filter((_, at) => some.includes(at));
    if (kept.length < best.length && (await take(kept))) break;
  }

  /** Zeller and Hildebrandt 2002, "Simplifying and isolating failure-inducing input": a part, or all but a part. */
  async function fewer(): Promise<void> {
    for (let parts = 2; best.length > 1 && parts <= best.length && !cut; ) {
      const rows = best;
      const cuts = pieces(rows.length, parts);
      const keeps = cuts.map(([from, to]) => rows.slice(from, to));
      const drops = parts === 2 ? [] : cuts.map(([from, to]) => [...rows.slice(0, from), ...rows.slice(to)]);
      const kept = await firstOf(keeps);
      if (kept) parts = 2;
      else if (await firstOf(drops)) parts = Math.max(2, parts - 1);
      else if (parts < rows.length) parts = Math.min(rows.length, parts * 2);
      else break;
    }
  }

  async function firstOf(candidates: readonly (readonly Row[])[]): Promise<boolean> {
    for (const rows of candidates) if (await take(rows)) return true;
    return false;
  }

  await fewer();
  for (let at = 0; at < best.length && !cut; ) {
    const row = best[at];
    const candidates =
      row === undefined
        ? []
        : shorter(row).map((less) => best.map((each, index) => (index === at ? less : each)));
    if (!(await firstOf(candidates))) at++;
  }
  return { rows: best, runs, done: !cut };
}

// --- helpers ---

/** [from, to) of so many parts that are as equal as can be. */
function pieces(length: number, parts: number): (readonly [number, number])[] {
  const edge = (at: number): number => Math.round((at * length) / parts);
  return Array.from({ length: parts }, (_, at) => [edge(at), edge(at + 1)] as const);
}

// The columns of a chart that was exported from W&B: `RUN - METRIC` for each run, and beside it what a bucket of steps had as
// its smallest and largest value, `RUN - METRIC__MIN` and `RUN - METRIC__MAX`. Charts that are grouped call the run otherwise.

export interface ExportedColumn {
  /** Absent: the table is of one run. */
  readonly run?: string;
  /** As the trainer logged it. */
  readonly name: string;
  /** The smallest or largest value of what another column has. */
  readonly copy: boolean;
}

/** By column, undefined where it is none of them; undefined: this is no such table. */
export function exportedOf(header: readonly string[]): readonly (ExportedColumn | undefined)[] | undefined {
  const names = new Set(header);
  const metrics = header.filter((name) => BOUNDS.every((bound) => names.has(`${name}${bound}`)));
  const parts = metrics.flatMap((name) => partsOf(name) ?? []);
  // All of them have a run, or none: a metric may be called `a - b` by itself.
  if (metrics.length === 0 || parts.length < metrics.length) return undefined;
  const several = new Set(parts.map(({ run }) => run)).size > 1;
  return header.map((name) => {
    const metric = BOUNDS.reduce((left, bound) => withoutEnd(left, bound), name);
    const of = metrics.includes(metric) ? partsOf(metric) : undefined;
    if (of === undefined) return undefined;
    return { ...(several ? { run: of.run } : {}), name: of.name, copy: metric !== name };
  });
}

// --- helpers ---

const BOUNDS = ['__MIN', '__MAX'] as const;
const BETWEEN = ' - ';

/** Names of runs are free text; those of metrics have no such dash between words. */
function partsOf(name: string): { readonly run: string; readonly name: string } | undefined {
  const at = name.lastIndexOf(BETWEEN);
  return at <= 0 ? undefined : { run: name.slice(0, at), name: name.slice(at + BETWEEN.length) };
}

const withoutEnd = (text: string, end: string): string =>
  text.endsWith(end) ? text.slice(0, -end.length) : text;

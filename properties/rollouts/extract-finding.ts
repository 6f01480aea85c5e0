// What is said of extracted completions: which row, what came back, and where in the row it was cut from. Which
// answers are legal is reference/extract's business.
import {
  type Args,
  type Batch,
  type CompletionVariantName,
  completionVariants,
  type Finding,
  type Ids,
  type Role,
  type Strip,
  type Subject,
  sameIds,
  stripOf,
  tokenAt,
} from '../../src/index.ts';

/** One way of returning completions must fit every row; otherwise the first row that none fits. */
export function misfit(
  subject: Subject,
  drawn: Batch,
  args: Args<'extract'>,
  observed: readonly Ids[],
): Finding | undefined {
  const width = Math.max(0, ...args.sampled_ids.map((row) => row.length));
  const declared = subject.semantics.stop_token_in_completion;
  const rows: CompletionVariantName[][] = [];
  for (const [row, completion] of drawn.completions.entries()) {
    const sampled = [...completion, ...Array.from({ length: width - completion.length }, () => drawn.pad)];
    const variants = completionVariants(sampled, { pad: drawn.pad, stops: new Set(drawn.stops) });
    const fitting = variants
      .filter(({ name }) => declared === undefined || (name !== 'stop cut') === declared)
      .filter(({ ids }) => sameIds(ids, observed[row] ?? []))
      .map(({ name }) => name);
    if (fitting.length === 0) return extractFinding(subject, drawn, args, row, observed[row] ?? []);
    const before = rows.findIndex((names) => !names.some((name) => fitting.includes(name)));
    const other = rows[before];
    if (other !== undefined)
      return mixedFinding(subject, drawn, args, observed, [before, row], [other, fitting]);
    rows.push(fitting);
  }
  // Every two rows share a way, and no way is shared by all: only where a third row decides between two.
  const all = (rows[0] ?? []).filter((name) => rows.every((names) => names.includes(name)));
  if (all.length > 0 || rows.length === 0) return undefined;
  return mixedFinding(
    subject,
    drawn,
    args,
    observed,
    rows.map((_, row) => row),
    rows,
  );
}

/** Padding behind a completion is the batch's business; where it begins is not. */
export function cutAfterStop(ids: Ids, drawn: Batch): Ids {
  const stop = ids.findIndex((id) => drawn.stops.includes(id));
  if (stop >= 0) return ids.slice(0, stop);
  let end = ids.length;
  while (end > 0 && ids[end - 1] === drawn.pad) end--;
  return ids.slice(0, end);
}

/** Two answers about one batch; `args` are those of the second, and its rows are shown. */
export function firstDifference(
  subject: Subject,
  drawn: Batch,
  args: Args<'extract'>,
  before: readonly Ids[],
  after: readonly Ids[],
  what: string,
): Finding | undefined {
  for (const [row, ids] of after.entries()) {
    const [left, right] = [cutAfterStop(before[row] ?? [], drawn), cutAfterStop(ids, drawn)];
    if (!sameIds(left, right)) {
      return {
        kind: 'differs',
        sentence: `The completion extracted from row ${row} is [${left.join(', ')}] ${what}, and [${right.join(', ')}] otherwise.`,
        strips: [extractStrip(subject, drawn, args, row, right, left)],
      };
    }
  }
  return undefined;
}

/** How a completion comes back, in words; the first name that fits is the plainest. */
const WAYS: Readonly<Record<CompletionVariantName, string>> = {
  'stop kept': 'with its stop token',
  'stop cut': 'without its stop token',
  'whole width': 'with the padding after it',
  'padding cut': 'without the padding after it',
};

/** Each of these rows is legal alone, and no one way fits all. */
function mixedFinding(
  subject: Subject,
  drawn: Batch,
  args: Args<'extract'>,
  observed: readonly Ids[],
  rows: readonly number[],
  ways: readonly (readonly CompletionVariantName[])[],
): Finding {
  const wayOf = (at: number): string => {
    const name = ways[at]?.[0];
    return name === undefined ? 'otherwise' : WAYS[name];
  };
  const words = rows.map((row, at) => `row ${row} ${at === 0 ? 'comes back ' : ''}${wayOf(at)}`);
  return {
    kind: 'mixed',
    sentence: `The completions come back in different ways: ${words.join(', ')}; one of them must hold for all rows.`,
    strips: rows.map((row) => extractStrip(subject, drawn, args, row, observed[row] ?? [])),
    note: 'Without a declaration, the stop token and the padding after it may be kept or left out, the same way in every row.',
  };
}

/** Where the completion of a row stands among `sequences`. */
function placeOf(drawn: Batch, args: Args<'extract'>, row: number): { promptStart: number; start: number } {
  const prompt = drawn.prompts[row]?.length ?? 0;
  const promptStart = args.padding_side === 'left' ? (args.input_ids[row]?.length ?? 0) - prompt : 0;
  return { promptStart, start: promptStart + prompt };
}

/** The row as it was handed over; expected is what was sampled, observed what came back, both at their columns. */
function extractStrip(
  subject: Subject,
  drawn: Batch,
  args: Args<'extract'>,
  row: number,
  observed: Ids,
  wanted?: Ids,
): Strip {
  const ids = args.sequences[row] ?? [];
  const completion = drawn.completions[row] ?? [];
  const { promptStart, start } = placeOf(drawn, args, row);
  const roles = ids.map((_, column): Role => {
    if (column < promptStart || column >= start + completion.length) return 'padding';
    if (column < start) return 'prompt';
    return drawn.stops.includes(ids[column] ?? -1) ? 'stop' : 'completion';
  });
  const at = startOf(ids, observed, start);
  const seen = ids.map((_, column) => observed[column - at]);
  const expected = ids.map((_, column) => (wanted ?? completion)[column - start]);
  const marks = ids.flatMap((_, column) => (expected[column] === seen[column] ? [] : [column]));
  return stripOf(subject, { row, ids, roles, tracks: { expected, observed: seen }, marks });
}

function extractFinding(
  subject: Subject,
  drawn: Batch,
  args: Args<'extract'>,
  row: number,
  observed: Ids,
): Finding {
  const declared = subject.semantics.stop_token_in_completion;
  const completion = drawn.completions[row] ?? [];
  const { promptStart, start } = placeOf(drawn, args, row);
  const cut = declared === false ? cutAfterStop(completion, drawn) : completion;
  const strip = extractStrip(subject, drawn, args, row, observed, cut);
  const at = startOf(args.sequences[row] ?? [], observed, start);
  const intruder = at < start && observed.length > 0;
  const kind = !intruder ? 'completion' : at >= promptStart ? 'prompt' : 'padding';
  const count = `${observed.length} ${observed.length === 1 ? 'token' : 'tokens'}`;
  return {
    kind,
    sentence: intruder
      ? `The completion extracted from row ${row} begins with ${tokenAt(subject, args.sequences[row] ?? [], at)}, which is ${kind === 'prompt' ? 'part of the prompt' : 'padding'}; it was sampled from column ${start} on.`
      : `The completion extracted from row ${row} has ${count} [${observed.join(', ')}]; [${completion.join(', ')}] was sampled${declared === false ? ' (declared without its stop token)' : ''}.`,
    strips: [strip],
    ...(declared === undefined
      ? {
          note: 'The stop token and the padding after it may be kept or left out, the same way in every row; no combination fits.',
        }
      : {}),
  };
}

/** The column that `part` was cut from: where the completion starts if it stands there, else wherever it stands. */
function startOf(row: Ids, part: Ids, start: number): number {
  if (sameIds(row.slice(start, start + part.length), part)) return start;
  return findIn(row, part) ?? start;
}

function findIn(row: Ids, part: Ids): number | undefined {
  for (let start = 0; start + part.length <= row.length; start++) {
    if (sameIds(row.slice(start, start + part.length), part)) return start;
  }
  return undefined;
}

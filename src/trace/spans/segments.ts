// Rows that hold several sequences, as their positions say: a trainer that packs, or that lays a batch end to end, begins to
// count anew with each. What one of them is says nothing of the next, even where it is cut off in the middle.
import type { RowIds, Spans } from '../ledger.ts';

/** The row's sequences from left to right, each as a row of its own; the row itself where it is one. */
export function segmentsOf(row: RowIds): readonly RowIds[] {
  const { ids, real, positions } = row;
  if (positions === undefined) return [row];
  // Padding may have position 0 as well, and so has a whole row where positions are wrong: neither begins anything.
  const begins = (at: number): boolean =>
    real[at] === true && real[at - 1] === true && positions[at] === 0 && positions[at - 1] !== 0;
  const starts = [0, ...ids.map((_, at) => at).filter((at) => at > 0 && begins(at))];
  if (starts.length === 1) return [row];
  return starts.map((from, at) => cut(row, from, starts[at + 1] ?? ids.length));
}

/** What is known of each, as one row. The first of the most certain kind says where it is known from. */
export function joined(parts: readonly { readonly row: RowIds; readonly spans: Spans }[]): Spans {
  let offset = 0;
  const completions = parts.flatMap(({ row, spans }) => {
    const by = offset;
    offset += row.ids.length;
    return spans.completions.map(({ from, to, stop }) => ({
      from: from + by,
      to: to + by,
      ...(stop === undefined ? {} : { stop: stop + by }),
    }));
  });
  const origins = parts.map(({ spans }) => spans.origin);
  const counted = (wanted: Spans['origin']['kind']): number =>
    origins.filter(({ kind }) => kind === wanted).length;
  const [chats, texts] = [counted('template'), counted('text')];
  const sure =
    origins.find(({ kind }) => kind === 'dataset') ??
    (chats > 0 ? { kind: 'template' as const, sequences: { chats, texts } } : undefined);
  return {
    origin: sure ?? origins[0] ?? { kind: 'text' },
    roles: parts.flatMap(({ spans }) => spans.roles),
    expected: parts.flatMap(({ spans }) => spans.expected),
    completions,
  };
}

// --- helpers ---

function cut(row: RowIds, from: number, to: number): RowIds {
  const { ids, attention, positions, real, logprobs } = row;
  return {
    ...row,
    ids: ids.slice(from, to),
    real: real.slice(from, to),
    ...(attention === undefined ? {} : { attention: attention.slice(from, to) }),
    ...(positions === undefined ? {} : { positions: positions.slice(from, to) }),
    ...(logprobs === undefined ? {} : { logprobs: logprobs.slice(from, to) }),
  };
}

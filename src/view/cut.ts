// The length limit: which end of a row is lost, and whether an answer is cut by it.
import type { PaddingSide } from '../vocabulary.ts';
import type { Answer, Range, TokenRow } from './row.ts';

/** At most `limit` tokens; an answer that loses some of its tokens, and not all, is marked as cut. */
export function cutRow(row: TokenRow, limit: number | undefined, side: PaddingSide): TokenRow {
  const length = row.ids.length;
  if (limit === undefined || length <= limit) return row;
  const start = side === 'left' ? length - limit : 0;
  const within = <T>(values: readonly T[]): T[] => values.slice(start, start + limit);
  const clip = <R extends Range>(range: R): R => ({
    ...range,
    from: Math.max(0, Math.min(range.from - start, limit)),
    to: Math.max(0, Math.min(range.to - start, limit)),
  });
  const left = <R extends Range>(ranges: readonly R[]): R[] =>
    ranges.map(clip).filter(({ from, to }) => to > from);
  const { given } = row;
  return {
    ...row,
    ids: within(row.ids),
    trained: within(row.trained),
    roles: within(row.roles),
    turns: left(row.turns),
    said: left(row.said),
    answers: row.answers.flatMap(({ stop, ...answer }): Answer[] => {
      const { from, to } = clip(answer);
      if (to === from) return [];
      const column = stop === undefined ? -1 : stop - start;
      return [
        {
          from,
          to,
          cut: answer.cut || to - from < answer.to - answer.from,
          ...(answer.told === undefined ? {} : { told: answer.told }),
          ...(column >= 0 && column < limit ? { stop: column } : {}),
        },
      ];
    }),
    straddles: row.straddles.map((at) => at - start).filter((at) => at >= 0 && at < limit),
    real: clip(row.real),
    ...(given === undefined
      ? {}
      : {
          given: {
            ...(given.labels === undefined ? {} : { labels: within(given.labels) }),
            ...(given.attention === undefined ? {} : { attention: within(given.attention) }),
          },
        }),
    lost: length - limit,
  };
}

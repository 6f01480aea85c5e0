// The positions that a row brings along: what the model counts its tokens by.
import type { TokenRow } from '../row.ts';
import { fault, type Rule } from './rule.ts';

export const positionsGoOn: Rule = (row, { tokenizer }) => {
  const { positions } = row.given ?? {};
  const { from, to } = row.real;
  if (positions === undefined || to === from) return [];
  const start = positions[from] as number;
  let restarts = 0;
  for (let at = from + 1; at < to; at++) {
    const [before, here] = [positions[at - 1] as number, positions[at] as number];
    if (here === before + 1) continue;
    if (here !== start)
      return [
        fault('positions-jump', `Token ${at} has the position ${here}, and the one before it ${before}.`, [
          at,
        ]),
      ];
    restarts++;
  }
  const late =
    start === 0 ? [] : [fault('positions-begin-late', `The first token has the position ${start}.`, [from])];
  const second = restarts === 0 ? secondText(row, tokenizer?.bosTokenId) : undefined;
  return second === undefined
    ? late
    : [
        ...late,
        fault(
          'positions-not-restarted',
          `A second text begins at token ${second}, whose position is ${positions[second]}.`,
          [second],
        ),
      ];
};

// --- helpers ---

/** Where another text begins within the row: at a BOS, or at a system message behind an answer. */
function secondText({ ids, turns, real }: TokenRow, bos: number | undefined): number | undefined {
  const answered = turns.findIndex(({ name }) => name === 'assistant');
  const system = answered < 0 ? undefined : turns.slice(answered).find(({ name }) => name === 'system');
  if (system !== undefined) return system.from;
  const at = bos === undefined ? -1 : ids.indexOf(bos, real.from + 1);
  return at < 0 || at >= real.to || ids[real.from] !== bos || ids[at - 1] === bos ? undefined : at;
}

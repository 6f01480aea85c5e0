// Rows of which only the tokens tell the turns, a rendered text or ids without labels: what --train-on trains of them.
import type { Range, TokenRow, TrainOn, ViewOptions } from '../row.ts';
import { turnsIn } from '../shape/recognise.ts';

/** The row with the turns that its tokens hold, `target` of them trained; undefined if they hold none and `target` needs them. */
export function withTurns(row: TokenRow, target: TrainOn, options: ViewOptions): TokenRow | undefined {
  const found = turnsIn(row.ids, row.real, options);
  if (target === 'all') return { ...row, ...found };
  if (found === undefined) return undefined;
  const open = target === 'assistant' ? found.answers : found.answers.slice(-1);
  return { ...row, ...found, trained: trainedWithin(row.ids.length, open) };
}

// --- helpers ---

function trainedWithin(length: number, ranges: readonly Range[]): readonly boolean[] {
  const trained = new Array<boolean>(length).fill(false);
  for (const { from, to } of ranges) trained.fill(true, from, to);
  return trained;
}

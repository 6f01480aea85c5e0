// The ids that a bias may be on.
import { gapAt, type Tokens } from '../tokens.ts';
import { bestOf } from './curves.ts';

/** The ids whose gaps stand out together and to the same side. */
export function biasedIds(tokens: Tokens, places: Uint32Array): ReadonlySet<number> {
  const sums = new Map<number, { count: number; sum: number; squares: number }>();
  for (const at of places) {
    const known = sums.get(tokens.id[at] ?? 0) ?? { count: 0, sum: 0, squares: 0 };
    const gap = gapAt(tokens, at);
    known.count++;
    known.sum += gap;
    known.squares += gap * gap;
    sums.set(tokens.id[at] ?? 0, known);
  }
  const clear = [...sums].flatMap(([id, { count, sum, squares }]) => {
    const mean = sum / count;
    const error = Math.sqrt(Math.max(0, squares / count - mean * mean) / count) + LEAST_ERROR;
    return count >= LEAST_COUNT && Math.abs(mean) > CLEAR * error ? [{ id, mean }] : [];
  });
  const most = bestOf(clear, ({ mean }) => -Math.abs(mean))?.value.mean ?? 0;
  // A bias shows in full where a token was unlikely, so means differ; what follows for all others is much smaller.
  const ids = clear.filter(({ mean }) => mean / most > LEAST_OF_MOST).map(({ id }) => id);
  return new Set(ids.length > MOST_IDS ? [] : ids);
}

const LEAST_COUNT = 4;
const CLEAR = 5;
const LEAST_ERROR = 1e-4;
const LEAST_OF_MOST = 0.3;
/** More than anybody lists by hand. */
const MOST_IDS = 32;

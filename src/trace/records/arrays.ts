// Arrays of a trace record as numbers: tensors, or plain lists from those who write traces by other means. What comes
// from a file may be anything; a shape that promises more than its data is refused before memory is asked for.
import { type Decoded, isJsonObject, shown } from '../../protocol/result.ts';
import { decodeTensor } from '../../protocol/tensor.ts';
import type { Ids, Matrix } from '../../vocabulary.ts';

export type Numbers = 'integers' | 'floats';

/** (n,) */
export function decodeRow(value: unknown, numbers: Numbers): Decoded<Ids> {
  const nested = nestedOf(value, 1);
  if ('complaint' in nested) return nested;
  const row = nested.ok as Ids;
  const complaint = numbers === 'integers' ? fractionIn(row) : undefined;
  return complaint === undefined ? { ok: row } : { complaint };
}

/** (B, T), rows of one length. */
export function decodeMatrix(value: unknown, numbers: Numbers): Decoded<Matrix> {
  const nested = nestedOf(value, 2);
  if ('complaint' in nested) return nested;
  const rows = nested.ok as Matrix;
  for (const row of rows) {
    if (row.length !== rows[0]?.length)
      return { complaint: `has rows of ${rows[0]?.length} and of ${row.length} columns` };
    const complaint = numbers === 'integers' ? fractionIn(row) : undefined;
    if (complaint !== undefined) return { complaint };
  }
  return { ok: rows };
}

// --- helpers ---

/** More rows, or columns, than any batch; an empty tensor may promise any number of them. */
const MOST_LENGTH = 2 ** 24;

function nestedOf(value: unknown, dimensions: 1 | 2): Decoded<Ids | Matrix> {
  if (Array.isArray(value)) {
    const rows = dimensions === 1 ? [value] : value;
    const numbers = rows.every((row) => Array.isArray(row) && row.every((x) => typeof x === 'number'));
    return numbers
      ? { ok: value as Ids | Matrix }
      : { complaint: `is ${shown(value)}, expected ${dimensions === 1 ? 'numbers' : 'rows of numbers'}` };
  }
  if (isJsonObject(value) && Array.isArray(value.shape)) {
    const { shape } = value;
    if (shape.length !== dimensions)
      return {
        complaint: `has shape ${shown(shape)}, expected ${dimensions} length${dimensions === 1 ? '' : 's'}`,
      };
    if (shape.some((length) => !(Number.isInteger(length) && length >= 0 && length <= MOST_LENGTH)))
      return { complaint: `has shape ${shown(shape)}, expected lengths of 0 to ${MOST_LENGTH}` };
    // Rows without columns would be made one by one, out of no data at all.
    if (dimensions === 2 && shape[1] === 0) return { ok: [] };
  }
  const decoded = decodeTensor(value);
  return 'complaint' in decoded ? decoded : { ok: decoded.ok as Ids | Matrix };
}

function fractionIn(row: Ids): string | undefined {
  const wrong = row.find((x) => !Number.isSafeInteger(x));
  return wrong === undefined ? undefined : `has ${wrong}, expected whole numbers`;
}

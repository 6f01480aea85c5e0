// Rows that are ids already: with labels, with masks, or with neither.
import type { Ids } from '../../vocabulary.ts';
import type { ChatShape, Shape, Unread } from './shapes.ts';

/** Of trl, verl and their like; 0 is not trained. */
export const MASK_NAMES = [
  'completion_mask',
  'assistant_masks',
  'assistant_mask',
  'response_mask',
  'loss_mask',
] as const;

/** `chat` is the conversation that the row has kept beside its ids. */
export function idsShape(
  row: Readonly<Record<string, unknown>>,
  chat: ChatShape | undefined,
): readonly Shape[] | Unread {
  const ids = numbers(row.input_ids);
  if (ids === undefined)
    return {
      problem:
        Array.isArray(row.input_ids) && Array.isArray(row.input_ids[0])
          ? 'input_ids is a list of lists, a batch; write one row per line.'
          : 'input_ids is not a list of whole numbers.',
    };
  const optional = (name: string): Ids | undefined | Unread => {
    if (row[name] === undefined || row[name] === null) return undefined;
    return numbers(row[name]) ?? { problem: `${name} is not a list of whole numbers.` };
  };
  const labels = optional('labels');
  const attention = optional('attention_mask');
  if (labels !== undefined && 'problem' in labels) return labels;
  if (attention !== undefined && 'problem' in attention) return attention;
  // Of several axes, as for images, there are several lists: they are the model's own business.
  const positions = numbers(row.position_ids);
  const masks: { name: string; values: Ids }[] = [];
  for (const name of MASK_NAMES) {
    const values = maskOf(row[name]);
    if (values === undefined) continue;
    if (values === 'none') return { problem: `${name} is not a list of numbers.` };
    masks.push({ name, values });
  }
  return [
    {
      kind: 'ids',
      form: 'input_ids',
      ids,
      masks,
      ...(labels === undefined ? {} : { labels }),
      ...(attention === undefined ? {} : { attention }),
      ...(positions === undefined ? {} : { positions }),
      ...(chat === undefined ? {} : { chat }),
    },
  ];
}

/** Whole numbers; a mask may be written with true and false. */
function numbers(value: unknown): Ids | undefined {
  if (!Array.isArray(value)) return undefined;
  const made = value.map((each) => (typeof each === 'boolean' ? Number(each) : each));
  return made.every((each) => Number.isInteger(each)) ? (made as number[]) : undefined;
}

/** 0 or not, one a token: masks may be weights. */
function maskOf(value: unknown): Ids | 'none' | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) return 'none';
  const made = value.map(Number);
  return made.every(Number.isFinite) ? made.map((each) => (each === 0 ? 0 : 1)) : 'none';
}

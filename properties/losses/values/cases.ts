// What the properties of the critic's loss share: their requests, and a row of one shown.
import {
  type Args,
  type Finding,
  layValues,
  type Ok,
  type Subject,
  stripOf,
  type ValueCase,
  valueLabels,
} from '../../../src/index.ts';

export const base = { stage: 'value_loss', level: 'must', ops: ['value_loss'], labels: valueLabels } as const;
export const coverage = { 'several rows': 0.3, 'unequal completions': 0.2 };

export function valueArgs(drawn: ValueCase, whole = true): Args<'value_loss'> {
  const { values, old_values, returns, completion_mask, prompt_width, micro_batches } = layValues(drawn, {
    whole,
  });
  return { values, old_values, returns, completion_mask, prompt_width, micro_batches };
}

/** One row with its numbers and its gradient; `marks` are columns. */
export function strips(
  subject: Subject,
  drawn: ValueCase,
  row: number,
  marks: readonly number[],
  { loss_weights: weights }: Ok<'value_loss'>,
): NonNullable<Finding['strips']> {
  const { values, old_values, returns, completion_mask, roles } = layValues(drawn);
  return [
    stripOf(subject, {
      row,
      ids: (values[row] ?? []).map((_, column) => column),
      roles: roles[row] ?? [],
      tracks: {
        mask: completion_mask[row] ?? [],
        value: values[row] ?? [],
        'old value': old_values[row] ?? [],
        return: returns[row] ?? [],
        'dL/d value': weights?.[row] ?? [],
      },
      marks,
      shown: 'columns',
    }),
  ];
}

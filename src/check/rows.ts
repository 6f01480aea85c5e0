// The answer of op `mask` or `rollout`, laid on the trainer's own rows: which column is prompt, completion, stop,
// padding. The trainer may pad as it likes; a row in which prompt and completion are not to be found has no plan.
import type { Batch } from '../generators/batch.ts';
import type { Args } from '../protocol/message.ts';
import { blockBatch, locateRow, type RowPlan, rolesOf } from '../reference/index.ts';
import type { Ids, Matrix, Role } from '../vocabulary.ts';
import type { Subject, World } from './property.ts';
import { discard } from './subject.ts';

export interface Extra {
  readonly extraPrompt?: number;
  readonly extraCompletion?: number;
}

export interface MaskedRow {
  readonly row: number;
  readonly ids: Ids;
  readonly attention: Ids | undefined;
  readonly mask: Ids;
  readonly prompt: Ids;
  readonly completion: Ids;
  readonly plan: RowPlan | undefined;
  readonly roles: readonly Role[];
}

/** A batch as the arguments of op `mask`: the block that decoder-only generation leaves. */
export function blockArgs(given: Batch, extra: Extra = {}): Args<'mask'> {
  const { sequences, attention_mask, promptWidth } = blockBatch(
    given.prompts,
    given.completions,
    given.pad,
    extra,
  );
  return {
    prompt_ids: given.prompts,
    completion_ids: given.completions,
    sequences: given.after === undefined ? sequences : withAfter(sequences, given, promptWidth),
    attention_mask,
    prompt_width: promptWidth,
    pad_token_id: given.pad,
    eos_token_ids: given.stops,
  };
}

/** What the sampler left behind the stop tokens, as far as the block is wide. */
function withAfter(sequences: Matrix, given: Batch, promptWidth: number): number[][] {
  return sequences.map((row, at) => {
    const from = promptWidth + (given.completions[at]?.length ?? 0);
    return row.map((id, column) => given.after?.[at]?.[column - from] ?? id);
  });
}

/** Asks op `mask` and lays the answer out. */
export async function maskedRows(subject: Subject, given: Batch, extra: Extra = {}): Promise<MaskedRow[]> {
  const args = blockArgs(given, extra);
  const answer = await subject.ask('mask', args);
  const laid = {
    ids: answer.input_ids ?? args.sequences,
    attention: answer.attention_mask,
    // Without ids of its own, the answer speaks of the rows that were sent, whose padding is known.
    ...(answer.input_ids === undefined ? { padding: args.attention_mask } : {}),
    mask: answer.completion_mask,
  };
  if (given.after === undefined)
    return layRows(given.prompts, given.completions, given.pad, given.stops, laid);
  const width = args.sequences[0]?.length ?? 0;
  const { after } = given;
  // A trainer may keep what stands behind the stop in its row, or cut it away.
  const kept = given.completions.map((row, at) =>
    [...row, ...(after[at] ?? [])].slice(0, width - args.prompt_width),
  );
  const cut = layRows(given.prompts, given.completions, given.pad, given.stops, laid);
  const whole = layRows(given.prompts, kept, given.pad, given.stops, laid);
  return cut.map((row, at) => (row.plan === undefined ? (whole[at] ?? row) : row));
}

/** Like `maskedRows`, for a check that has nothing to say where a row cannot be found. */
export async function plannedRows(
  subject: Subject,
  given: Batch,
  extra: Extra = {},
): Promise<(MaskedRow & { plan: RowPlan })[]> {
  return (await maskedRows(subject, given, extra)).map((row) => {
    const { plan } = row;
    if (plan === undefined)
      return discard(`row ${row.row} of the trainer's batch does not hold its prompt and completion`);
    if (plan.ambiguous)
      return discard(
        'a row without attention_mask, whose prompt or completion is made of pad ids, can be read in several ways',
      );
    return { ...row, plan };
  });
}

export function layRows(
  prompts: readonly Ids[],
  completions: readonly Ids[],
  pad: number,
  stops: Ids,
  answer: {
    readonly ids: Matrix;
    readonly attention: Matrix | undefined;
    readonly padding?: Matrix;
    readonly mask: Matrix;
  },
): MaskedRow[] {
  return prompts.map((prompt, row) => {
    const ids = answer.ids[row] ?? [];
    const completion = completions[row] ?? [];
    const attention = answer.attention?.[row];
    const plan = locateRow(ids, answer.padding?.[row] ?? attention, prompt, completion, pad);
    const roles =
      plan === undefined ? ids.map((): Role => 'padding') : rolesOf(plan, ids.length, stops, completion);
    return { row, ids, attention, mask: answer.mask[row] ?? [], prompt, completion, plan, roles };
  });
}

/**
 * Whether the completion of this row is trained at all. One that never stopped may legally be left out whole; where
 * that is not declared, all or nothing is accepted.
 */
export function trainsCompletion(world: World, row: MaskedRow): boolean {
  if (row.roles.includes('stop')) return true;
  const declared = world.semantics.truncated_completions_trained;
  return declared ?? row.roles.some((role, column) => role === 'completion' && row.mask[column] !== 0);
}

export function sameIds(left: Ids, right: Ids): boolean {
  return left.length === right.length && left.every((id, at) => id === right[at]);
}

// The answer of op `mask` or `rollout`, laid on the trainer's own rows: which column is prompt, completion, stop,
// padding. The trainer may pad as it likes; a row in which prompt and completion are not to be found has no plan. One that
// lost its stop token only is laid out all the same: what it trains of prompt and padding is a question of its own.
import type { Batch } from '../../generators/rollouts/batch.ts';
import type { Args } from '../../protocol/message.ts';
import { blockBatch, locateRow, type RowPlan, rolesOf } from '../../reference/index.ts';
import type { Ids, Matrix, Role } from '../../vocabulary.ts';
import type { Subject, World } from '../property.ts';
import { discard } from '../subject.ts';

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
  /** As far as the row holds it. */
  readonly completion: Ids;
  readonly plan: RowPlan | undefined;
  readonly roles: readonly Role[];
  /** The stop token that ended the completion, where the row holds all of it but this. */
  readonly lostStop?: number;
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
  const ownRows = answer.input_ids !== undefined;
  const laid = {
    ids: answer.input_ids ?? args.sequences,
    attention: answer.attention_mask,
    mask: answer.completion_mask,
    // Without ids of its own, the answer speaks of the rows that were sent.
    ...(ownRows ? {} : { promptWidth: args.prompt_width }),
  };
  const lay = (completions: readonly Ids[]): MaskedRow[] =>
    layRows(given.prompts, completions, given.pad, given.stops, laid);
  const { after } = given;
  if (after === undefined) return lay(given.completions);
  const width = (args.sequences[0]?.length ?? 0) - args.prompt_width;
  const kept = lay(given.completions.map((row, at) => [...row, ...(after[at] ?? [])].slice(0, width)));
  if (!ownRows) return kept;
  // A trainer may keep what stands behind the stop in its row, or cut it away.
  const isWhole = ({ plan, lostStop }: MaskedRow): boolean => plan !== undefined && lostStop === undefined;
  return lay(given.completions).map((row, at) => {
    const other = kept[at];
    return other === undefined || isWhole(row) || (row.plan !== undefined && !isWhole(other)) ? row : other;
  });
}

/** Like `maskedRows`, for a check that has nothing to say where a row cannot be found. */
export async function plannedRows(
  subject: Subject,
  given: Batch,
  extra: Extra = {},
): Promise<(MaskedRow & { plan: RowPlan })[]> {
  const rows = await maskedRows(subject, given, extra);
  for (const { plan } of rows) {
    if (plan === undefined)
      return discard("a row of the trainer's batch does not hold its prompt and completion", 'trainer');
    if (plan.ambiguous)
      return discard(
        'a row without attention_mask, whose prompt or completion is made of pad ids, can be read in several ways',
        'trainer',
      );
  }
  return rows as (MaskedRow & { plan: RowPlan })[];
}

/**
 * Lays batches out on the trainer's own rows: where prompt and completion stand in each, and what every column is.
 * `plan` is undefined for a row that does not hold both once, in order.
 */
export function layRows(
  prompts: readonly Ids[],
  completions: readonly Ids[],
  pad: number,
  stops: Ids,
  answer: {
    readonly ids: Matrix;
    readonly attention: Matrix | undefined;
    /** The rows are the block that was sent: completions begin at this column. */
    readonly promptWidth?: number;
    readonly mask: Matrix;
  },
): MaskedRow[] {
  const stopSet = new Set(stops);
  return prompts.map((prompt, row) => {
    const ids = answer.ids[row] ?? [];
    const completion = completions[row] ?? [];
    const attention = answer.attention?.[row];
    const laid = (part: Ids): RowPlan | undefined =>
      answer.promptWidth === undefined
        ? locateRow(ids, attention, prompt, part, pad)
        : blockPlan(answer.promptWidth, prompt, part);
    const shared = { row, ids, attention, mask: answer.mask[row] ?? [], prompt };
    const whole = laid(completion);
    if (whole !== undefined)
      return { ...shared, completion, plan: whole, roles: rolesOf(whole, ids.length, stopSet, completion) };
    const lostStop = completion.at(-1);
    const rest = completion.slice(0, -1);
    const plan = lostStop === undefined || !stopSet.has(lostStop) ? undefined : laid(rest);
    if (plan === undefined || lostStop === undefined)
      return { ...shared, completion, plan: undefined, roles: guessedRoles(ids, attention, prompt, pad) };
    return {
      ...shared,
      completion: rest,
      plan,
      roles: rolesOf(plan, ids.length, stopSet, rest),
      lostStop,
    };
  });
}

/** Of a row that is no arrangement of its prompt and completion, for a picture: the prompt where it stands, tokens, padding. */
function guessedRoles(ids: Ids, attention: Ids | undefined, prompt: Ids, pad: number): Role[] {
  const real = (column: number): boolean => (attention?.[column] ?? Number(ids[column] !== pad)) !== 0;
  const start = ids.findIndex((_, column) => prompt.every((id, at) => ids[column + at] === id));
  return ids.map((_, column): Role => {
    if (start >= 0 && column >= start && column < start + prompt.length) return 'prompt';
    return real(column) ? 'completion' : 'padding';
  });
}

/** What may be done about a stop token that is not in the row. */
export const LOST_STOP_ADVICE =
  'The stop token is missing: is the completion decoded with skip_special_tokens=True and tokenised again? Train on the sampled ids themselves.';

const blockPlan = (promptWidth: number, prompt: Ids, completion: Ids): RowPlan => ({
  promptStart: promptWidth - prompt.length,
  promptLength: prompt.length,
  completionStart: promptWidth,
  completionLength: completion.length,
  stop: undefined,
});

/**
 * Whether the completion of this row is trained at all. One that never stopped may legally be left out whole; where
 * that is not declared, all or nothing is accepted.
 */
export function trainsCompletion(world: World, row: MaskedRow): boolean {
  if (row.roles.includes('stop') || row.lostStop !== undefined) return true;
  const declared = world.semantics.truncated_completions_trained;
  return declared ?? row.roles.some((role, column) => role === 'completion' && row.mask[column] !== 0);
}

/** Equal in length and in every id. */
export function sameIds(left: Ids, right: Ids): boolean {
  return left.length === right.length && left.every((id, at) => id === right[at]);
}

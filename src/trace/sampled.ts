// What generate() calls and other samplers drew: prompts and completions without padding.
import type { Ids } from '../vocabulary.ts';
import type { Generation } from './ledger.ts';
import type { ReadGenerate } from './records/shapes.ts';

/** The sequences of one call, in the order of its output. */
export function sampledOf(
  record: ReadGenerate,
  place: Pick<Generation, 'rank' | 'step'>,
): readonly Generation[] {
  const { copies, prompt_width: width } = record;
  return record.sequences.map((sequence, row) => {
    // Each prompt's copies stand one behind the other.
    const mask = record.attention_mask?.[Math.floor(row / Math.max(1, copies))];
    const [before, behind] = [record.unsure_before?.[row] ?? 0, record.unsure_behind?.[row] ?? 0];
    const end = record.lengths?.[row];
    const ids = sequence.slice(width, end === undefined ? undefined : width + end);
    const completion = completionOf(ids, end === undefined ? record : { ...record, pad_token_id: null });
    return {
      ...place,
      model: record.model,
      source: record.source ?? 'generate',
      call: record.generate,
      row,
      promptIds: promptOf(sequence.slice(0, width), mask, record),
      ...completion,
      ...(record.sampling_logprobs === undefined
        ? {}
        : { logprobs: record.sampling_logprobs[row]?.slice(0, completion.completionIds.length) ?? [] }),
      eosTokenIds: record.eos_token_ids,
      temperature: record.do_sample ? (record.temperature ?? undefined) : undefined,
      ...(record.do_sample ? cutOf(record) : {}),
      ...(before + behind > 0 ? { unsure: { before, behind } } : {}),
      ...(record.open === true && !completion.stopped ? { open: true } : {}),
    };
  });
}

// --- helpers ---

/** What is left of the vocabulary to draw from, where not all of it is; and what a loop did besides. */
function cutOf({
  source,
  settings: { top_p: p, top_k: k, moved, prompt_moved, unread },
}: ReadGenerate): Pick<Generation, 'topP' | 'topK' | 'moved' | 'promptMoved' | 'unread'> {
  return {
    ...(source === 'loop' && typeof moved === 'number' && moved > 0 ? { moved: true } : {}),
    ...(source === 'loop' && prompt_moved === true ? { promptMoved: true } : {}),
    ...(source === 'loop' && typeof unread === 'number' && unread > 0 ? { unread: true } : {}),
    ...(typeof p === 'number' && p > 0 && p < 1 ? { topP: p } : {}),
    ...(typeof k === 'number' && k > 0 ? { topK: k } : {}),
  };
}

function promptOf(
  ids: Ids,
  mask: Ids | undefined,
  { pad_token_id: pad, eos_token_ids: eos }: ReadGenerate,
): Ids {
  // What a mask hides between two tokens stands in the row all the same.
  if (mask !== undefined)
    return ids.slice(mask.indexOf(1) < 0 ? ids.length : mask.indexOf(1), mask.lastIndexOf(1) + 1);
  // Without a mask generate() takes pads for padding, unless the pad id is one that stops: then they were read as tokens.
  if (pad === null || eos.includes(pad)) return ids;
  return ids.filter((id) => id !== pad);
}

function completionOf(
  ids: Ids,
  { pad_token_id: pad, eos_token_ids: eos, max_new_tokens: most }: ReadGenerate,
): Pick<Generation, 'completionIds' | 'stopped'> {
  const stop = ids.findIndex((id) => eos.includes(id));
  if (stop >= 0) return { completionIds: ids.slice(0, stop + 1), stopped: true };
  // What came to its limit was not padded: pads at its end were sampled. A row that a criterion of the script's own ended
  // beside one that came to its limit looks the same; its pads are none of the trained row's real tokens.
  if (ids.length === most) return { completionIds: ids, stopped: false };
  let end = ids.length;
  while (pad !== null && end > 0 && ids[end - 1] === pad) end--;
  return { completionIds: ids.slice(0, end), stopped: false };
}

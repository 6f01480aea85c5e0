// Golden cases of ops that lay examples out in rows: collating, truncating, packing, pairs. Rows are short and unequal, so
// that what is cut or padded differs from row to row.
import { type Ids, IGNORE_INDEX, type MultimodalMessage, type Ragged } from '../../../vocabulary.ts';
import { type GoldenCase, goldenCase } from '../../case.ts';
import { type CaseIds, endedByPad, idsOf, otherArrangement, PAD_IS_A_STOP, STOP_IS_ZERO } from '../../ids.ts';

/** A prompt of `prompt` tokens that is not trained, and an answer that is. */
function labelled(ids: Ids, prompt: number): Ids {
  return ids.map((id, at) => (at < prompt ? IGNORE_INDEX : id));
}

/** Three examples of 6, 3 and 4 tokens, each ended by a stop token. */
function examples({ plain, stop }: CaseIds): { readonly input_ids: Ragged; readonly labels: Ragged } {
  const rows = [
    [...plain(0, 1, 2, 3, 4), stop(0)],
    [...plain(5, 6), stop(0)],
    [...plain(7, 8, 9), stop(0)],
  ];
  const prompts = [2, 1, 2];
  return { input_ids: rows, labels: rows.map((row, at) => labelled(row, prompts[at] ?? 0)) };
}

const collated: readonly GoldenCase[] = [
  goldenCase('collate/unequal-rows', 'collate', (world) => {
    const ids = idsOf(world);
    return { ...examples(ids), pad_token_id: ids.pad };
  }),
  goldenCase('collate/one-row', 'collate', (world) => {
    const ids = idsOf(world);
    const row = [...ids.plain(0, 1), ids.stop(0)];
    return { input_ids: [row], labels: [labelled(row, 1)], pad_token_id: ids.pad };
  }),
  goldenCase('collate/pad-is-a-stop', 'collate', (world) => {
    const ids = idsOf(world, PAD_IS_A_STOP);
    return (
      otherArrangement(world, 'pad is a stop') ?? { ...examples(endedByPad(ids)), pad_token_id: ids.pad }
    );
  }),
  goldenCase('collate/token-zero', 'collate', (world) => {
    const { plain, pad, stops } = idsOf(world, STOP_IS_ZERO);
    if (pad === 0) return 'id 0 is the padding token of the trainer (hello.tokens)';
    const rows = [[...plain(0), 0, ...plain(1)], plain(2), [...plain(3), stops[0] ?? 0]];
    return { input_ids: rows, labels: rows, pad_token_id: pad };
  }),
];

const cut: readonly GoldenCase[] = [
  goldenCase('truncate/too-long', 'truncate', (world) => ({ ...examples(idsOf(world)), max_length: 4 })),
  goldenCase('truncate/one-too-long', 'truncate', (world) => ({ ...examples(idsOf(world)), max_length: 5 })),
  goldenCase('truncate/all-fit', 'truncate', (world) => ({ ...examples(idsOf(world)), max_length: 6 })),
  goldenCase('truncate/loses-its-answer', 'truncate', (world) => {
    const { plain } = idsOf(world);
    const rows = [plain(0, 1, 2, 3, 4), plain(5, 6, 7)];
    return { input_ids: rows, labels: [labelled(plain(0, 1, 2, 3, 4), 3), plain(5, 6, 7)], max_length: 3 };
  }),
  goldenCase('truncate_prompts/one-too-long', 'truncate_prompts', (world) => {
    const { plain, pad } = idsOf(world);
    return { prompt_ids: [plain(0, 1, 2, 3, 4), plain(5, 6)], max_prompt_length: 3, pad_token_id: pad };
  }),
  goldenCase('truncate_prompts/all-fit', 'truncate_prompts', (world) => {
    const { plain, pad } = idsOf(world);
    return { prompt_ids: [plain(0, 1, 2), plain(5), plain(6, 7)], max_prompt_length: 3, pad_token_id: pad };
  }),
];

const packed: readonly GoldenCase[] = [
  goldenCase('pack/two-rows', 'pack', (world) => {
    const ids = idsOf(world);
    return { ...examples(ids), max_length: 8, pad_token_id: ids.pad };
  }),
  goldenCase('pack/one-row', 'pack', (world) => {
    const ids = idsOf(world);
    return { ...examples(ids), max_length: 13, pad_token_id: ids.pad };
  }),
  goldenCase('pack/a-row-each', 'pack', (world) => {
    const ids = idsOf(world);
    return { ...examples(ids), max_length: 6, pad_token_id: ids.pad };
  }),
  goldenCase('pack/every-token-trained', 'pack', (world) => {
    const ids = idsOf(world);
    const { input_ids } = examples(ids);
    return { input_ids, labels: input_ids, max_length: 8, pad_token_id: ids.pad };
  }),
  goldenCase('pack/pad-is-a-stop', 'pack', (world) => {
    const ids = idsOf(world, PAD_IS_A_STOP);
    return (
      otherArrangement(world, 'pad is a stop') ?? {
        ...examples(endedByPad(ids)),
        max_length: 10,
        pad_token_id: ids.pad,
      }
    );
  }),
];

const pairs: readonly GoldenCase[] = [
  goldenCase('preference/unequal-pairs', 'preference', (world) => {
    const { plain, stop, pad } = idsOf(world);
    return {
      prompt_ids: [plain(0, 1, 2), plain(3)],
      chosen_ids: [
        [...plain(4), stop(0)],
        [...plain(5, 6, 7), stop(0)],
      ],
      rejected_ids: [[...plain(8, 9, 10), stop(0)], [stop(0)]],
      pad_token_id: pad,
    };
  }),
  goldenCase('preference/token-zero', 'preference', (world) => {
    const { plain, stop, pad } = idsOf(world, STOP_IS_ZERO);
    if (pad === 0) return 'id 0 is the padding token of the trainer (hello.tokens)';
    return {
      prompt_ids: [[0, ...plain(0)], plain(1)],
      chosen_ids: [
        [...plain(2), 0, ...plain(3), stop(0)],
        [...plain(4), stop(0)],
      ],
      rejected_ids: [
        [0, stop(0)],
        [...plain(5), 0, ...plain(6)],
      ],
      pad_token_id: pad,
    };
  }),
  goldenCase('preference/pad-is-a-stop', 'preference', (world) => {
    const { plain, stop, pad } = endedByPad(idsOf(world, PAD_IS_A_STOP));
    return (
      otherArrangement(world, 'pad is a stop') ?? {
        prompt_ids: [plain(0, 1), plain(2)],
        chosen_ids: [
          [...plain(3, 4), stop(0)],
          [...plain(5), stop(0)],
        ],
        rejected_ids: [[...plain(6), stop(0)], plain(7, 8)],
        pad_token_id: pad,
      }
    );
  }),
];

const say = (role: 'user' | 'assistant', ...content: MultimodalMessage['content']): MultimodalMessage => ({
  role,
  content,
});
const word = (text: string) => ({ type: 'text', text }) as const;
const image = (width: number, height: number, ...color: readonly number[]) =>
  ({ type: 'image', width, height, color }) as const;

const multimodal: readonly GoldenCase[] = [
  goldenCase('multimodal_batch/one-image-beside-none', 'multimodal_batch', () => ({
    conversations: [
      [say('user', image(56, 28, 250, 0, 0), word('What is this?')), say('assistant', word('Red'))],
      [say('user', word('And now')), say('assistant', word('No'))],
    ],
  })),
  goldenCase('multimodal_batch/two-images', 'multimodal_batch', () => ({
    conversations: [
      [
        say('user', image(28, 28, 0, 0, 250), word('Look at it'), image(84, 56, 120, 120, 0)),
        say('assistant', word('It is a square.')),
      ],
    ],
  })),
];

export const rowCases: readonly GoldenCase[] = [...collated, ...cut, ...packed, ...pairs, ...multimodal];

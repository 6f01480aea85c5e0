// Ops that lay examples out in rows: collating, truncating, packing, pairs.
import { op } from '../op.ts';

export const ROW_OPS = {
  collate: op({
    args: { input_ids: 'int_rows', labels: 'int_rows', pad_token_id: 'int' },
    ok: {
      input_ids: 'int_matrix[row, column]',
      attention_mask: 'int_matrix[row, column]',
      labels: 'int_matrix[row, column]',
      position_ids: 'int_matrix[row, column]?',
    },
    batch: {
      reach: 'batch',
      ids: { args: ['input_ids', 'labels', 'pad_token_id'], ok: ['input_ids', 'labels'] },
    },
  }),
  truncate: op({
    args: { input_ids: 'int_rows[row]', labels: 'int_rows', max_length: 'int' },
    ok: {
      input_ids: 'int_rows[row]',
      labels: 'int_rows',
      attention_mask: 'int_rows?',
      position_ids: 'int_rows?',
      kept: 'ints?', // which examples the rows are; absent: all, in order
    },
    batch: { reach: 'row' },
  }),
  truncate_prompts: op({
    args: { prompt_ids: 'int_rows[row]', max_prompt_length: 'int', pad_token_id: 'int' },
    ok: { input_ids: 'int_matrix[row, column]', attention_mask: 'int_matrix[row, column]', kept: 'ints?' },
    batch: { reach: 'batch' },
  }),
  pack: op({
    args: { input_ids: 'int_rows', labels: 'int_rows', max_length: 'int', pad_token_id: 'int' },
    ok: {
      input_ids: 'int_matrix[packed row, column]', // (N, T) packed rows
      labels: 'int_matrix[packed row, column]',
      position_ids: 'int_matrix[packed row, column]?',
      segment_ids: 'int_matrix[packed row, column]?', // 0 = padding, otherwise one number an example within its row
      segment_lengths: 'int_rows?', // of the examples in each packed row, in order
      unpacked: 'int_rows?', // what the trainer's own unpacking makes of its rows: the examples again, in packed order
    },
    offers: ['overlong'],
    batch: { none: 'which examples share a row depends on all of them and on their order' },
  }),
  preference: op({
    args: {
      prompt_ids: 'int_rows',
      chosen_ids: 'int_rows[pair]',
      rejected_ids: 'int_rows[pair]',
      pad_token_id: 'int',
    },
    ok: {
      chosen_input_ids: 'int_matrix[pair, chosen column]', // prompt and chosen completion
      chosen_attention_mask: 'int_matrix[pair, chosen column]',
      chosen_mask: 'int_matrix[pair, chosen column]', // 1 = counts in the log-probability of the completion, token-aligned
      rejected_input_ids: 'int_matrix[pair, rejected column]',
      rejected_attention_mask: 'int_matrix[pair, rejected column]',
      rejected_mask: 'int_matrix[pair, rejected column]',
    },
    batch: { reach: 'row' },
  }),
  multimodal_batch: op({
    args: {
      conversations: 'multimodal_conversations[conversation]',
      padding_side: 'text?', // 'left' or 'right'
      max_length: 'int?', // where rows are cut
    },
    ok: {
      input_ids: 'int_matrix[conversation, column]',
      attention_mask: 'int_matrix[conversation, column]',
      labels: 'int_matrix[conversation, column]',
      image_token_id: 'int', // the id whose embedding is replaced by a feature of an image
      image_tokens: 'ints[image]', // how many features the model makes of each image, in the order of the pixels
      image_means: 'float_matrix[image, channel]', // mean of its pixel values, by channel
    },
    offers: ['padding_side', 'turns', 'max_length'],
    batch: { none: 'images are counted by batch, and how many of them a row has differs' },
  }),
};

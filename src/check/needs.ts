// Common needs of properties: what must be declared or offered before a property says anything.
import type { Op } from '../protocol/message.ts';
import type { Route } from '../vocabulary.ts';
import type { Need } from './property.ts';

/** The harness may choose pad and stop ids. */
export const freeTokens: Need = (world) =>
  world.hello.tokens === undefined
    ? undefined
    : 'the trainer is fixed to its special ids (hello.tokens), so pad cannot be renamed';

/** The op serves this route. */
export const route =
  (op: 'render' | 'tokenize', ...routes: readonly Route[]): Need =>
  (world) => {
    const has = world.hello.ops[op]?.route ?? ['sft', 'rl'];
    const missing = routes.filter((wanted) => !has.includes(wanted));
    return missing.length === 0
      ? undefined
      : `op \`${op}\` has no route ${missing.map((name) => `"${name}"`).join(', ')}`;
  };

/** The op accepts a partition into micro-batches. */
export const microBatches =
  (op: 'loss' | 'sft_loss'): Need =>
  (world) => {
    if (world.hello.ops[op]?.micro_batches !== true) return `op \`${op}\` does not offer micro_batches`;
    if (world.semantics.loss_normalization === 'local')
      return 'every micro-batch has its own denominator (loss_normalization "local"); where the whole batch is meant, declare "global", and this is checked';
    return undefined;
  };

/** The expectation is computed from the tokenizer's own chat template. */
export const chatTemplate: Need = (world) => {
  if (world.tokenizer === undefined)
    return 'no tokenizer is named (hello.tokenizer, or `tokenizer` in the configuration)';
  return world.tokenizer.chatTemplate === undefined ? 'the tokenizer has no chat template' : undefined;
};

/** The op answers more than it must. */
export const offers =
  (op: Op, what: string, test: Need): Need =>
  (world) =>
    test(world) === undefined ? undefined : `op \`${op}\` does not offer ${what}`;

// Common needs of properties: what must be declared or offered before a property says anything.
import type { Taken } from '../generators/text/conversation.ts';
import type { Capability, Op } from '../protocol/message.ts';
import { refusesSystem } from '../tokenizers/call.ts';
import { CHOICES, itemsOf } from '../vocabulary/choices.ts';
import type { Formula, ItemName, Route, Semantics, Tokens } from '../vocabulary.ts';
import type { Need, World } from './property.ts';

/** The harness may choose all ids, special ones included. */
export const freeTokens: Need = (world) =>
  world.hello.tokens === undefined
    ? undefined
    : 'the trainer is fixed to its special ids (hello.tokens), so ids cannot be renamed';

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

/** Ids that are put through the trainer's own model must be ids of its vocabulary. */
export const modelTokens: Need = ({ hello }) =>
  hello.tokens === undefined ? 'hello.tokens is needed: the ids must be ids of the model' : undefined;

/** Which stop tokens the op is sent. */
export const stopsOf = (
  { hello }: World,
  op: Op,
): { readonly tokens: Tokens | undefined; readonly oneStop: boolean } => ({
  tokens: hello.tokens,
  oneStop: hello.ops[op]?.eos_token_ids === 1,
});

/** Whether one of these ops takes conversations of a single question only. */
export const asksOnce = ({ hello }: World, ...ops: readonly Op[]): boolean =>
  ops.some((op) => hello.ops[op]?.turns === 1);

/** An op that is not offered stands in nobody's way. */
const TOOLS: Capability = { tools: true };

/** Which conversations these ops take. */
export const takenBy = (world: World, ...ops: readonly Op[]): Taken => ({
  once: asksOnce(world, ...ops),
  tools: !asksOnce(world, ...ops) && ops.every((op) => (world.hello.ops[op] ?? TOOLS).tools === true),
  rarelySystem: world.tokenizer !== undefined && refusesSystem(world.tokenizer),
});

/** Turns before the last one are sent. */
export const severalTurns =
  (op: Op): Need =>
  (world) =>
    asksOnce(world, op)
      ? `op \`${op}\` declares turns: 1, and is sent no conversation with a question before the last`
      : undefined;

/** The expectation is computed from the tokenizer's own chat template. */
export const chatTemplate: Need = (world) => {
  if (world.tokenizer === undefined)
    return 'no tokenizer is named (hello.tokenizer, or `tokenizer` in the configuration)';
  return world.tokenizer.chatTemplate === undefined ? 'the tokenizer has no chat template' : undefined;
};

/** What is said of an op in `own_formulas`. */
export const OWN_FORMULA = 'has a formula of its own (own_formulas), which is compared with none';

/** None of these ops has a formula of its own. */
export const formulaOf =
  (ops: readonly Op[]): Need =>
  ({ semantics }) => {
    const own = ops.find((op) => semantics.own_formulas?.some((name) => name === op));
    return own === undefined ? undefined : `op \`${own}\` ${OWN_FORMULA}`;
  };

/** Items without which nothing can be compared with this formula; others compare with every known variant. */
export const neededOf = (formula: Formula): readonly ItemName[] =>
  itemsOf(formula).filter((item) => CHOICES[item].needed === formula);

/** Those that nobody has said. A clip is of a ratio: where there is none, no clip is needed. */
export const unknownOf = (formula: Formula, held: Semantics): readonly ItemName[] =>
  neededOf(formula).filter(
    (item) => held[item] === undefined && !(held.ratio_level === 'none' && item.startsWith('clip_')),
  );

/** The numbers and names of a formula are known. */
export const knownFormula =
  (formula: Formula): Need =>
  ({ semantics }) => {
    const missing = unknownOf(formula, semantics).map((item) => `semantics.${item}`);
    return missing.length === 0
      ? undefined
      : `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not declared`;
  };

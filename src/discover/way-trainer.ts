// A way of calling a function, as a trainer that offers one op: what judges it judges any trainer.
import { encodeArgs, TOKEN_ROW } from '../protocol/json.ts';
import type { Hello, Op } from '../protocol/message.ts';
import { objectTrainer, reject } from '../trainer/object.ts';
import type { Trainer } from '../trainer/trainer.ts';
import type { Semantics } from '../vocabulary.ts';
import type { Dialogue, Way } from './dialogue.ts';
import { fixedTokens } from './fixed-ids.ts';

export function wayTrainer(op: Op, way: Way, dialogue: Dialogue): Trainer {
  const wire = { layoutOf: () => TOKEN_ROW, base64: false, floats: 'float32' } as const;
  const tokens = fixedTokens(way);
  const answer = async (args: never): Promise<never> => {
    // Its tracks are in the layout of the way by now.
    const said = await dialogue.answer(way.way, encodeArgs(op, args, wire));
    if (typeof said.reject === 'string') reject(said.reject);
    if (said.ok === undefined) throw new Error(String(said.error ?? said.problem ?? 'no answer'));
    return said.ok as never;
  };
  return objectTrainer({
    hello: { ...helloOf(op, way), semantics: givenBy(op, way), ...(tokens === undefined ? {} : { tokens }) },
    ops: { [op]: answer },
  });
}

/** A policy loss that is not handed old_logprobs has no ratio: REINFORCE. */
const givenBy = (op: Op, { text }: Way): Semantics =>
  op === 'loss' && !text.includes('old_logprobs') ? { ratio_level: 'none' } : {};

/** No dtype: what computes in doubles, too, is held to the tolerances of float32, as whoever declares nothing is. */
export function helloOf(op: Op, way: Pick<Way, 'capability' | 'layout'>): Hello {
  const layout = way.layout === null ? {} : { layout: way.layout };
  return {
    protocol: 1,
    name: 'discover',
    ops: { [op]: { ...way.capability, ...layout } },
  } as Hello;
}

// What a property would ask, without an answer: requests that a function is tried with before anybody judges it.
import fc from 'fast-check';
import type { Property } from '../check/property.ts';
import { worldOf } from '../check/run.ts';
import { runCase } from '../check/subject.ts';
import { OP_CAPABILITIES } from '../protocol/hello.ts';
import { encodeArgs, TOKEN_ROW } from '../protocol/json.ts';
import type { Op } from '../protocol/message.ts';
import { objectTrainer, reject } from '../trainer/object.ts';
import type { Choice } from '../vocabulary/choice.ts';
import { CHOICES, type Layout, type Semantics } from '../vocabulary.ts';
import { helloOf } from './way-trainer.ts';

/** Drawn, of which the largest are taken: more than one row, rows of unequal length. */
const DRAWN = 24;
const TAKEN = 2;
const SEED = 7;

/** JSON text of requests, in the layout. */
export async function recordedCases(
  property: Property,
  op: Op,
  layout: Layout | null,
  capability: Readonly<Record<string, unknown>> = {},
): Promise<readonly string[]> {
  const texts: string[] = [];
  const wire = { layoutOf: () => TOKEN_ROW, base64: false, floats: 'float32' } as const;
  const record = (args: never): never => {
    texts.push(encodeArgs(op, args, wire));
    return reject('recorded');
  };
  // One stop id suits every trainer; what the others are called is the judge's.
  const one = OP_CAPABILITIES[op].includes('eos_token_ids') ? { eos_token_ids: 1 } : {};
  const hello = helloOf(op, { capability: { ...capability, ...one }, layout });
  const trainer = objectTrainer({ hello, ops: { [op]: record } });
  const world = worldOf(trainer, undefined, ANY_FORMULA);
  for (const given of fc.sample(property.given(world), { seed: SEED, numRuns: DRAWN }))
    await runCase(property, trainer, world, given).catch(() => undefined);
  return [...new Set(texts)].sort((a, b) => b.length - a.length).slice(0, TAKEN);
}

/** Some formulas must be known before anything is asked; which they are does not change what is asked. */
const ANY_FORMULA: Semantics = Object.fromEntries(
  Object.entries<Choice>(CHOICES).flatMap(([name, { needed, usual, values }]) =>
    needed === undefined ? [] : [[name, usual ?? values[0]]],
  ),
);

// What an adapter would gain by one more op, or by one more capability of an op that it has: properties that can then be
// checked, and the listed bugs that they catch. A bug that another op catches in its own code is counted again: here it is
// looked for in other code.

import type { Property, World } from '../../check/property.ts';
import { supportOf } from '../../check/support.ts';
import { OP_CAPABILITIES } from '../../protocol/hello.ts';
import { type Capability, type Hello, OPS, type Op } from '../../protocol/message.ts';
import { KL_ESTIMATORS } from '../../vocabulary.ts';

export interface Reach {
  readonly op: Op;
  /** Absent: the op itself is not there. */
  readonly capability?: keyof Capability;
  /** Ops without which this one brings nothing. */
  readonly beside: readonly Op[];
  readonly properties: readonly string[];
  /** Rows of the bug catalogue. */
  readonly bugs: readonly string[];
}

/** What a trainer might take. Capabilities that are facts of its own (samples, tags, orders) nobody can say for it. */
const ALL: Capability = {
  route: ['sft', 'rl'],
  chat_template: true,
  tools: true,
  skip_special_tokens: true,
  padding_side: ['left', 'right'],
  unfinished: true,
  temperature: true,
  packed: true,
  reference: true,
  kl_estimator: KL_ESTIMATORS,
  process_rewards: true,
  groups_of_one: true,
  interleaved_groups: true,
  micro_batches: true,
  ranks: true,
  shards: true,
  entropy: true,
};

/** What brings most first. Only what makes some property checkable is listed. */
export function reachOf(properties: readonly Property[], world: World): readonly Reach[] {
  const ops = Object.keys(OPS) as Op[];
  const out = properties.filter((property) => supportOf(property, world) !== undefined);
  const gain = (added: Hello['ops']): Pick<Reach, 'properties' | 'bugs'> => {
    const wider: World = { ...world, hello: { ...world.hello, ops: { ...world.hello.ops, ...added } } };
    const won = out.filter((property) => supportOf(property, wider) === undefined);
    const bugs = new Set(won.flatMap(({ catches }) => catches));
    return { properties: won.map(({ id }) => id), bugs: [...bugs] };
  };
  const reaches = ops.flatMap((op): Reach[] => {
    const declared = world.hello.ops[op];
    if (declared !== undefined)
      return OP_CAPABILITIES[op]
        .filter((name) => declared[name] === undefined && ALL[name] !== undefined)
        .map((capability) => ({
          op,
          capability,
          beside: [],
          ...gain({ [op]: { ...declared, [capability]: ALL[capability] } }),
        }));
    const alone = gain({ [op]: allOf(op) });
    if (alone.properties.length > 0) return [{ op, beside: [], ...alone }];
    const beside = fewest(
      out
        .filter((property) => property.ops.includes(op))
        .map((property) => property.ops.filter((other) => other !== op && !(other in world.hello.ops))),
    );
    const added = [op, ...beside].map((name) => [name, allOf(name)]);
    return [{ op, beside, ...gain(Object.fromEntries(added)) }];
  });
  return reaches
    .filter((reach) => reach.properties.length > 0)
    .sort((a, b) => b.bugs.length - a.bugs.length || b.properties.length - a.properties.length);
}

function allOf(op: Op): Capability {
  return Object.fromEntries(OP_CAPABILITIES[op].map((name) => [name, ALL[name]]));
}

function fewest(sets: readonly (readonly Op[])[]): readonly Op[] {
  return (
    sets.reduce<readonly Op[] | undefined>(
      (least, set) => (least === undefined || set.length < least.length ? set : least),
      undefined,
    ) ?? []
  );
}

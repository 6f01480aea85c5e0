// The matrix of ops and relations has no empty cell: a relation that fits an op is asked by a property, or the op says why not.
import { describe, expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { RULES } from '../../src/check/relations/rules.ts';
import { AXES, OPS, type Op, RELATIONS, unasked } from '../../src/index.ts';
import { WITHOUT_AXES } from '../../src/protocol/axes.ts';

const withAxes = Object.keys(AXES) as Op[];
const cells = withAxes.flatMap((op) => RELATIONS.map((relation) => [op, relation] as const));

const isAsked = ([op, relation]: (typeof cells)[number]): boolean =>
  properties.some(({ id, ops }) => ops.length === 1 && ops[0] === op && id.endsWith(RULES[relation].id));
const named = ([op, relation]: (typeof cells)[number]): string => `${op}: ${relation}`;

describe('the matrix of relations', () => {
  test('each relation that fits an op is asked of it', () => {
    const fitting = cells.filter((cell) => unasked(...cell) === undefined);
    expect(fitting.length).toBeGreaterThan(200);
    expect(fitting.filter((cell) => !isAsked(cell)).map(named)).toEqual([]);
  });

  test('an exception is one: the relation fits, and no property asks it', () => {
    const idle = withAxes.flatMap((op) =>
      RELATIONS.filter((relation) => AXES[op]?.except?.[relation] !== undefined)
        .map((relation) => [op, relation] as const)
        .filter((cell) => 'unfit' in (unasked(...cell) ?? {}) || isAsked(cell))
        .map(named),
    );
    expect(idle).toEqual([]);
  });

  test('an op has axes, or a reason to have none', () => {
    const both = (Object.keys(OPS) as Op[]).filter(
      (op) => (AXES[op] === undefined) === (WITHOUT_AXES[op] === undefined),
    );
    expect(both).toEqual([]);
  });
});

// The known failures that come with the ready-made adapters, next to each adapter.json.
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { type Cause, readCauses } from '../../../src/check/saved/causes.ts';
import { ADAPTER_NAMES, knownFailuresOf } from '../../../src/cli/trainer/adapters.ts';
import type { World } from '../../../src/index.ts';

/** Shorter ones explain nothing. */
const LEAST_REASON = 40;

const bundled = ADAPTER_NAMES.flatMap((adapter): readonly (readonly [string, readonly Cause[]])[] => {
  const file = knownFailuresOf(adapter);
  if (file === undefined) return [];
  const read = readCauses(file);
  if ('problem' in read) throw new Error(read.problem);
  return [[adapter, read.causes]];
});

test('there are some', () => {
  expect(bundled.length).toBeGreaterThan(5);
});

test.each(bundled)('%s explains each: why, where it may be read, and the case that shows it', (_, causes) => {
  for (const { reason, link, line, failures, tokens } of causes) {
    expect(reason.length, reason).toBeGreaterThan(LEAST_REASON);
    expect(reason).toMatch(/\.$/);
    expect(line.length, reason).toBeGreaterThan(0);
    if (link !== undefined) expect(link, reason).toMatch(/^https:\/\/\S+$/);
    expect(Object.keys(failures).length, reason).toBeGreaterThan(0);
    const hello = {
      protocol: 1,
      name: 'adapter',
      ops: {},
      ...(tokens && { tokens: { vocab_size: 1e6, ...tokens } }),
    };
    const world = { hello, tokenizer: undefined } as unknown as World;
    for (const [id, { given, kind, labels = [] }] of Object.entries(failures)) {
      const property = properties.find((each) => each.id === id);
      expect(property, id).toBeDefined();
      expect([typeof given, typeof kind], id).toEqual(['object', 'string']);
      const own = labels.length === 0 ? [] : property?.labels?.(given, world);
      expect(own, id).toEqual(expect.arrayContaining([...labels]));
    }
  }
});

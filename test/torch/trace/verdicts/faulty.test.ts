// The same scripts with one mistake each, as people make them: found without a word to the tracer, and the token named.
import { expect, test } from 'vitest';
import { FAULTS } from './faults.ts';
import { blamedIn, ofPart, traced } from './run.ts';

test.concurrent.each(ofPart(Object.entries(FAULTS)))(
  '%s: found, and named',
  async (_, { found, says, ...asked }) => {
    const run = await traced(asked);
    const blamed = new Map(blamedIn(run));
    expect([...blamed.keys()], run.out).toContain(found);
    expect(blamed.get(found)).toMatch(says);
    expect(run.exitCode, run.out).toBe(1);
  },
);

test.concurrent.each<[how: string, says: RegExp, passes: boolean, options?: string]>([
  ['raise-before', /no such data set/, false],
  ['raise-after', /the disk is full/, true],
  ['exit-3', /exit code 3/, false],
  ['no-torch', /torch/, false],
  ['mlp', /no language model/i, false],
  ['compiled', /compile/, false, '--keep-compiled'],
])('bad.py %s gets no verdict but a sentence, and never a pass', async (how, says, seen, options = '') => {
  const run = await traced({ words: `bad.py ${how}`, options });
  expect(run.out.replace(/\s+/g, ' ')).toMatch(says);
  expect(run.results.some(({ verdict }) => verdict === 'pass')).toBe(seen);
  expect(run.exitCode, run.out).toBe(2);
});

test.concurrent('a head that is never called, and no function of a loss: read off the gradient all the same', async () => {
  const run = await traced({ words: 'bad.py no-head' });
  expect(run.exitCode, run.out).toBe(0);
  expect(run.out).toContain('2 steps, 4 rows, 20 tokens trained');
});

// A configuration may be any module, and any module may do anything: what it throws, hides or never says is one sentence.
import { afterEach, expect, test, vi } from 'vitest';
import { makeWorld } from '../world.ts';

afterEach(() => void vi.useRealTimers());

test.each([
  [
    'a getter that throws',
    'lossproof.config.mjs',
    'export default { get trainer() { throw new Error("boo\\u001b[31m"); } };',
    'it cannot be looked at: boo\\x1b[31m',
  ],
  [
    'a proxy',
    'lossproof.config.mjs',
    'export default new Proxy({}, { ownKeys() { throw new Error("no keys"); } });',
    'it cannot be looked at: no keys',
  ],
  [
    'an escape in what it throws',
    'lossproof.config.mjs',
    'throw new Error("\\u001b]0;pwned\\u0007");',
    'cannot be loaded: \\x1b]0;pwned\\x07',
  ],
  [
    'a NUL in a command',
    'lossproof.config.json',
    '{"trainer": "python3 \\u0000x"}',
    '"trainer" has a NUL character',
  ],
  [
    'a NUL in a word',
    'lossproof.config.json',
    '{"trainer": ["python3", "\\u0000x"]}',
    '"trainer" has a NUL character',
  ],
  [
    'a NUL in one of several',
    'lossproof.config.json',
    '{"trainers": {"a": {"tokenizer": "\\u0000"}}}',
    'a: "tokenizer" has a NUL character',
  ],
  [
    'no end of depth',
    'lossproof.config.json',
    '{"trainer":'.repeat(100_000),
    'cannot be loaded: nested deeper than 200 levels',
  ],
])('%s', async (_, file, content, sentence) => {
  const world = makeWorld();
  world.write(file, content);
  expect(await world.run('check')).toBe(2);
  expect(world.err()).toContain(sentence);
  expect(world.err()).not.toContain('\u001b');
  const named = file.endsWith('.json') ? 0 : 1;
  expect(world.err().trim().split('\n')).toHaveLength(named + 1);
});

test('one that never loads is not waited for', async () => {
  const world = makeWorld();
  world.write('lossproof.config.mjs', 'await new Promise(() => {});');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const run = world.run('check');
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1), { timeout: 300_000 });
  vi.advanceTimersByTime(120_000);
  expect(await run).toBe(2);
  expect(world.err()).toContain('did not finish loading within 120 s');
});

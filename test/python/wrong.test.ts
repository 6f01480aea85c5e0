import { expect, test } from 'vitest';
import { OPS } from '../../src/protocol/message.ts';
import { bytes, example } from './adapter.ts';
import { ONE_EACH } from './requests.ts';

interface Listed {
  readonly name: string;
  readonly id: string;
  readonly title: string;
  readonly rows: readonly string[];
  readonly base: string;
  readonly op: string;
  readonly story: string;
  readonly property_hint?: string;
}

async function list(module: string): Promise<Listed[]> {
  const { stdout } = await bytes(['-m', module, '--list'], '');
  return JSON.parse(stdout);
}

const HELLO = { op: 'hello', args: { protocol: 1, harness: 'test' } };

test('the faulty trainers are the six bugs that the project grew from, each with its story and fix', async () => {
  const faulty = await list('lossproof.examples.faulty');
  expect(faulty.map(({ name }) => name)).toEqual([
    'sft-rl-template',
    'penalty-over-prompt',
    'kl-on-raw-prompt',
    'count-as-position',
    'mask-for-right-padding',
    'batch-by-length',
  ]);
  for (const { title, story, op, property_hint } of faulty) {
    expect(title).not.toBe('');
    expect(story).toContain('Fix:');
    expect(property_hint).toBe(`${op}/*`);
  }
});

test('each faulty trainer differs from the correct one in the op that it names', async () => {
  for (const { name, op } of await list('lossproof.examples.faulty')) {
    const base = name === 'mask-for-right-padding' ? 'stop_excluded' : 'left_padded';
    const request = ONE_EACH.filter((one) => one.op === op);
    const [right, wrong] = await Promise.all([example([base], request), example(['faulty', name], request)]);
    expect(wrong.answers[0]?.ok, name).toBeDefined();
    expect(wrong.answers[0]?.ok, name).not.toEqual(right.answers[0]?.ok);
  }
});

test('the mutants have names of their own, a story, and an op of the protocol', async () => {
  const mutants = await list('mutants');
  expect(mutants.length).toBeGreaterThan(60);
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  for (const { name, id, title, rows, base, op, story } of mutants) {
    expect(Object.keys(OPS), name).toContain(op);
    expect(title, name).not.toBe('');
    expect(story, name).not.toBe('');
    expect(base, name).not.toBe('');
    expect([name, `${rows[0]}-${name}`], name).toContain(id);
  }
  expect(new Set(mutants.map(({ op }) => op))).toEqual(new Set(Object.keys(OPS)));
});

test('a mutant says its own name and answers as its base but for one op', async () => {
  const { answers } = await example(['mutants', 'sft-not-shifted'], [HELLO, ...ONE_EACH]);
  const right = await example(['left_padded'], [HELLO, ...ONE_EACH]);
  expect(answers[0]?.ok).toMatchObject({ name: 'LP-01-sft-not-shifted' });
  const differing = ONE_EACH.filter(
    (_, at) => JSON.stringify(answers[at + 1]?.ok) !== JSON.stringify(right.answers[at + 1]?.ok),
  );
  expect(differing.map(({ op }) => op)).toEqual(['sft_loss']);
});

test('a row of the catalogue stands for its first mutant', async () => {
  const { answers } = await example(['mutants', 'KL-03'], [HELLO]);
  expect(answers[0]?.ok).toMatchObject({ name: 'KL-03-full-kl-swapped' });
});

test('an unknown name is one line with the nearest match', async () => {
  const { stderr, exitCode } = await example(['mutants', 'sft-not-shift'], []);
  expect(stderr).toContain("did you mean 'sft-not-shifted'?");
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(exitCode).toBe(2);
});

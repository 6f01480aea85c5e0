// The pages of ops: whole, and true to what they are made of. Their functions are handed to the SDK itself.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { opFacts, opNames } from '../../scripts/site/op-facts.ts';
import { opPage } from '../../scripts/site/op-page.ts';
import { OPS } from '../../src/protocol/message.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { choiceNames } from '../../src/vocabulary/choices.ts';

test('every op has its section of the protocol, its fields, and an example that is a request and an answer of it', () => {
  for (const op of opNames) {
    const { prose, args, ok, examples } = opFacts(op);
    expect(prose.length, op).toBeGreaterThan(40);
    expect(prose, op).not.toMatch(/^\| given|^```/m);
    expect(args.map(({ name }) => name)).toEqual(Object.keys(OPS[op].args));
    expect(ok.map(({ name }) => name)).toEqual(Object.keys(OPS[op].ok));
    const [request, answer] = examples.map((line) => JSON.parse(line.replaceAll('-Infinity', '-1')));
    expect(request, op).toMatchObject({ op, id: answer.id });
    expect(answer.ok, op).toBeDefined();
  }
});

test('shapes and comments of the table stand beside its fields', () => {
  const field = (op: (typeof opNames)[number], side: 'args' | 'ok', name: string) =>
    opFacts(op)[side].find((each) => each.name === name);
  expect(field('mask', 'args', 'attention_mask')).toMatchObject({ shape: '(B, T)', note: '1 = real token' });
  expect(field('extract', 'args', 'input_ids')).toMatchObject({
    shape: '(B, P)',
    note: 'the padded prompts',
  });
  expect(field('tool_step', 'ok', 'done')).toMatchObject({ note: '1 or 0' });
  expect(field('reward', 'ok', 'lengths')?.note).toContain('tokens of each completion');
  expect(field('score', 'ok', 'logprobs')).toMatchObject({ shape: '(B, ·)', note: 'one a completion token' });
  expect(field('kl', 'ok', 'kl')).toMatchObject({ optional: true, shape: '(B, T)' });
});

test('every item of the semantics concerns an op, every property judges one, and its page says so', () => {
  // Of what becomes of any op's arguments, and of the chat template as a whole, no op speaks alone.
  const told = new Set(opNames.flatMap((op) => opFacts(op).semantics.map(({ name }) => name)));
  expect(choiceNames.filter((key) => !told.has(key) && key !== 'in_place')).toEqual([]);
  for (const { id, ops } of properties)
    for (const op of ops) expect(opPage(op), `${op}, ${id}`).toContain(`| \`${id}\` |`);
});

test('the SDK takes every function as it stands on its page', () => {
  const functions = opNames.map((op) => /```python\n([\s\S]*?)```/.exec(opPage(op))?.[1] ?? '');
  const program = `import lossproof\nfrom lossproof._bind import bind\nfrom lossproof._registry import collected\n${functions.join('\n')}\nfor name, (function, _) in collected(None).items(): bind(name, function)\nprint(len(collected(None)), flush=True)`;
  const said = execFileSync('python3', ['-c', `${program}`], {
    encoding: 'utf8',
    env: { ...process.env, PYTHONPATH: join(PACKAGE_ROOT, 'src/python') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(said.trim()).toBe(String(opNames.length));
});

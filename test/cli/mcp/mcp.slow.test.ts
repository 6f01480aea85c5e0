// `lossproof mcp` as a process, asked by the SDK's own client over stdio. Every answer is valid by the schema that is published.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { isAlive } from '../../trainer/misbehave.ts';
import { writeScript } from '../trace/traced-script.ts';
import { makeWorld, type World } from '../world.ts';
import { expectValid } from './schemas.ts';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');
/** Right but for one thing: it takes a count of tokens for a position. */
const FAULTY = ['python3', '-m', 'lossproof.examples.faulty', 'count-as-position'];
const QUICK = { only: ['extract'], cases: 20, seed: 3 };

interface Answer {
  readonly isError: boolean;
  readonly text: string;
  readonly document: Readonly<Record<string, unknown>>;
}

/** `auto`: the protocol of 2026, if the server knows it; `legacy`: the one of 2025. */
async function connected(world: World, mode: 'auto' | 'legacy' = 'auto') {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--import', LOADER, MAIN, 'mcp'],
    cwd: world.folder,
    env: { PATH: process.env.PATH ?? '', XDG_STATE_HOME: `${world.folder} state` },
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  onTestFinished(async () => {
    await client.close();
    expect(stderr).toBe('');
  });
  return {
    client,
    transport,
    async call(name: string, given: object, options: object = {}): Promise<Answer> {
      const answer = await client.callTool({ name, arguments: { ...given } }, { timeout: HOUR, ...options });
      const [first] = answer.content;
      if (first?.type !== 'text') throw new Error('the answer has no text');
      const document = (answer.structuredContent ?? {}) as Answer['document'];
      if (answer.isError !== true) {
        if (name === 'explain') expectValid('explain', document.pages);
        else expectValid(name === 'view' ? 'view' : 'findings', document);
      }
      return { isError: answer.isError === true, text: first.text, document };
    },
  };
}

const HOUR = 3_600_000;

test.each([
  ['auto', '2026-07-28'],
  ['legacy', '2025-11-25'],
] as const)('five tools, of which two read only (%s)', async (mode, version) => {
  const { client } = await connected(makeWorld(), mode);
  expect(client.getNegotiatedProtocolVersion()).toBe(version);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['check', 'trace', 'view', 'explain', 'replay']);
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name)).toEqual([
    'view',
    'explain',
  ]);
  expect(client.getInstructions()).toContain('No verdict is not a pass');
  // All of it is read by a model in every session.
  expect(JSON.stringify(tools).length).toBeLessThan(6_000);
});

test('a faulty trainer is checked, its finding explained, and its case replayed until it holds', async () => {
  const world = makeWorld();
  const { call } = await connected(world);
  const seen: number[] = [];
  const checked = await call(
    'check',
    { command: FAULTY, ...QUICK },
    { onprogress: ({ progress }: { progress: number }) => seen.push(progress) },
  );
  const { findings } = (checked.document as { runs: [{ findings: Finding[] }] }).runs[0];
  const finding = findings.find(({ property }) => property === 'extract/exact-under-left-padding');
  expect(finding).toMatchObject({ verdict: 'fail', confirmed: 'deterministic' });
  expect(finding?.next[0]).toBe(`npx lossproof replay ${finding?.case}`);
  expect(checked.text).toContain(`- extract/exact-under-left-padding (fail): ${finding?.sentence}`);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));

  const explained = await call('explain', { ids: [finding?.property, 'MSK-01'] });
  expect(explained.document).toMatchObject({ pages: [{ kind: 'property' }, { kind: 'bug', id: 'MSK-01' }] });

  const again = await call('replay', { case: finding?.case, command: FAULTY });
  expect(again.document).toMatchObject({
    runs: [{ finished: true, findings: [{ property: finding?.property, case: finding?.case }] }],
  });
  const repaired = await call('replay', { case: finding?.case, bundled: true });
  expect(repaired.text).toMatch(/^Nothing wrong was found\.[\s\S]*\+ fixed/);
  expect(repaired.document).toMatchObject({ runs: [{ counts: { pass: 1 }, findings: [] }] });
});

interface Finding {
  readonly property: string;
  readonly sentence: string;
  readonly case: string;
  readonly next: readonly string[];
}

test('a script is traced, and what it prints is no part of the protocol', async () => {
  const world = makeWorld();
  writeScript(world);
  const { call } = await connected(world);
  const { text, document } = await call('trace', { command: ['python3', 'train.py', 'stop'] });
  expect(document).toMatchObject({
    runs: [{ command: 'python3 train.py stop', findings: [{ property: 'tokenize/stop-token-is-trained' }] }],
  });
  expect(text).toMatch(/^Something is wrong\. Exit code 1\./);
  const none = await call('trace', {
    command: ['python3', '-c', 'import os; print("PIPE", os.environ.get("LOSSPROOF_PIPE"))'],
  });
  expect(none.text).toMatch(/^No verdict\. Do not read this as a pass\.[\s\S]*PIPE None/);
});

test('a data set is viewed: what is wrong, and which tokens are trained', async () => {
  const world = makeWorld();
  const messages = (content: string) => [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content },
  ];
  world.write(
    'rows.jsonl',
    ['Hello!', ''].map((each) => JSON.stringify({ messages: messages(each) })).join('\n'),
  );
  const { call } = await connected(world);
  const { text, document } = await call('view', { data: 'rows.jsonl', tokenizer: familyFolder('qwen') });
  expect(text).toContain('✗ 1 of 2 rows is flagged.');
  expect(document).toMatchObject({
    verdict: 'fail',
    rows: 2,
    findings: [{ id: 'empty-answer', weight: 'flag', rows: 1, first: [2] }],
  });
  const [, good] = document.shown as { parts: { trained: boolean; text: string }[] }[];
  expect(
    good?.parts
      .filter(({ trained }) => trained)
      .map(({ text }) => text)
      .join(''),
  ).toBe('Hello!<|im_end|>');
});

describe('what cannot be done is one clear sentence', () => {
  test('of the call, of the command, and of the trainer', async () => {
    const { call, client } = await connected(makeWorld());
    const refused = async (name: string, given: object) => {
      const { isError, text } = await call(name, given);
      expect(isError).toBe(true);
      return text;
    };
    expect(await refused('check', { ...QUICK })).toBe('check needs exactly one of command, adapter, bundled');
    expect(await refused('check', { bundled: true, csaes: 1 })).toContain('did you mean "cases"?');
    expect(await refused('check', { bundled: true, cases: 0 })).toMatch(
      /^lossproof: .*whole number above 0\.$/,
    );
    expect(await refused('check', { command: ['no-such-program'] })).toContain(
      'The command "no-such-program" was not found.',
    );
    expect(await refused('view', { data: 'nothing.jsonl' })).toMatch(
      /^lossproof: [^\n]*nothing\.jsonl[^\n]*$/,
    );
    expect(await refused('explain', { ids: ['mask/promt'] })).toMatch(/^lossproof: no property is called/);
    await expect(client.callTool({ name: 'demo', arguments: {} })).rejects.toThrow('demo');
  });
});

test('nothing runs that no call has named: neither the trainer of a configuration, nor its code in view', async () => {
  const world = makeWorld();
  const ran = `require('node:fs').writeFileSync('ran', '')`;
  world.write(
    'lossproof.config.mjs',
    `import { writeFileSync } from 'node:fs';\nwriteFileSync('ran', '');\nexport default { trainer: 'node -e "${ran}"' };\n`,
  );
  const { call } = await connected(world);
  expect((await call('check', {})).isError).toBe(true);
  expect((await call('replay', { case: '7f3a9c' })).isError).toBe(true);
  await call('view', { conversation: '{"input_ids": [1, 2], "labels": [-100, 2]}' });
  await call('explain', { ids: ['MSK-01'] });
  expect(existsSync(join(world.folder, 'ran'))).toBe(false);
});

/** A trainer that says who it is, and never answers. */
const HANGS = `import os, time\nopen("pid", "w").write(str(os.getpid()))\ntime.sleep(3600)\n`;

test.each([
  ['check', 'that is cancelled', 'cancel', 'auto'],
  ['trace', 'that is cancelled', 'cancel', 'legacy'],
  ['check', 'of a client that has gone', 'close', 'auto'],
  ['check', 'of a server that is killed', 'kill', 'auto'],
] as const)('%s %s leaves no process', async (name, _, how, mode) => {
  const world = makeWorld();
  world.write('hangs.py', HANGS);
  const { call, client, transport } = await connected(world, mode);
  const { pid: server } = transport;
  const controller = new AbortController();
  const told: unknown[] = [];
  const options = { signal: controller.signal, onprogress: (progress: unknown) => told.push(progress) };
  const answer = call(name, { command: ['python3', 'hangs.py'] }, options).catch(String);
  const file = join(world.folder, 'pid');
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8') !== '').toBe(true);
  const pid = Number(readFileSync(file, 'utf8'));
  expect(isAlive(pid)).toBe(true);
  // A client waits longer for what goes on.
  if (name === 'trace') await expect.poll(() => told.length).toBeGreaterThan(1);
  if (how === 'cancel') controller.abort();
  else if (how === 'close') await client.close();
  else process.kill(server ?? 0, 'SIGKILL');
  await answer;
  await expect.poll(() => isAlive(pid)).toBe(false);
  if (how === 'cancel') {
    // The server lives on, and answers.
    expect((await call('explain', { ids: ['MSK-01'] })).isError).toBe(false);
    await client.close();
  }
  await expect.poll(() => isAlive(server ?? 0)).toBe(false);
});

// Orders to a terminal and to a CI job, in every string of every input that a command shows: none of them is passed on.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');

/** The clipboard, an erased screen, a control of eight bits, and a line of its own that is an order to GitHub. */
const EVIL = '\u001b]52;c;aGk=\u0007\u001b[2J\u009b2J\n::error::evil\n##[error]evil';
const E = JSON.stringify(EVIL);

/** Says all of it: in hello, in an answer, in what it refuses and raises, on stderr. */
const TRAINER = `
import json, os, sys
evil = json.loads(${JSON.stringify(E)})
how = sys.argv[1]
if how == "dies":
    sys.stderr.write(evil)
    sys.exit(evil)
if how == "no protocol":
    print(json.dumps({"id": 1, "ok": {"protocol": evil}}), flush=True)
if how == "no JSON":
    print(evil, flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello" and how == "hello":
        answer = {"ok": {"protocol": 1, "name": "a", evil: evil}}
    elif request["op"] == "hello":
        answer = {"ok": {"protocol": 1, "name": evil, "version": evil, "runtime": evil, "notes": [evil, evil + "2"],
            "ops": {"collate": {}}}}
    elif how == "refuses":
        answer = {"reject": evil}
    elif how == "raises":
        answer = {"error": {"message": evil, "type": evil, "traceback": evil}}
    elif how == "answers":
        answer = {"ok": {evil: evil, "input_ids": evil}}
    else:
        rows = request["args"]["input_ids"]
        answer = {"ok": {"input_ids": [row[:-1] for row in rows], "attention_mask": rows, "labels": rows}}
    print(json.dumps({"id": request["id"], **answer}), flush=True)
`;

const ONE = [
  '--only',
  'collate/rows-survive',
  '--cases',
  '5',
  '--shrink-time',
  '1',
  '--seed',
  '3',
  '--no-profile',
];
const of = (how: string): readonly string[] => ['--', 'python3', 'evil.py', how];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loss proof escapes ü '));
  writeFileSync(join(folder, 'evil.py'), TRAINER);
  writeFileSync(join(folder, 'evil.json'), JSON.stringify({ [EVIL]: EVIL, trainer: EVIL }));
  writeFileSync(join(folder, 'known.json'), JSON.stringify({ 'collate/rows-survive': { reason: EVIL } }));
  writeFileSync(join(folder, 'rows.jsonl'), `${JSON.stringify({ [EVIL]: EVIL, text: EVIL })}\n{"a": ${EVIL}`);
  const steps = [1, 2, 3, 4].map((step) =>
    JSON.stringify({ step, [EVIL]: step, loss: step > 1 ? 'NaN' : 1 }),
  );
  writeFileSync(join(folder, 'log.jsonl'), `${steps.join('\n')}\n`);
  const start = {
    type: 'run-start',
    seed: 1,
    cases: 1,
    command: EVIL,
    name: EVIL,
    version: EVIL,
    properties: [],
  };
  const hello = { protocol: 1, name: EVIL, version: EVIL, runtime: EVIL, notes: [EVIL], ops: {} };
  const events = [
    { ...start, hello },
    { type: 'notice', sentence: EVIL },
    { type: 'run-end', interrupted: false, milliseconds: 1 },
  ];
  writeFileSync(join(folder, 'events.ndjson'), events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  writeFileSync(join(folder, 'locked.ndjson.lock'), JSON.stringify({ pid: 1, host: EVIL }));
  mkdirSync(join(folder, '.lossproof'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each<[of: string, argv: readonly string[]]>([
  ['hello, and a failure', ['check', ...ONE, ...of('fails')]],
  ['what is refused', ['check', ...ONE, ...of('refuses')]],
  ['an exception', ['check', ...ONE, ...of('raises')]],
  ['an answer', ['check', ...ONE, ...of('answers')]],
  ['a trainer that does not start', ['check', ...ONE, ...of('dies')]],
  ['a hello that is wrong', ['check', ...ONE, ...of('hello')]],
  ['a protocol', ['check', ...ONE, ...of('no protocol')]],
  ['a line that is no JSON', ['check', ...ONE, ...of('no JSON')]],
  ['hello, by doctor', ['doctor', ...of('fails')]],
  ['a reason of known failures', ['check', ...ONE, '--known', 'known.json', ...of('fails')]],
  ['a configuration', ['check', '--config', 'evil.json']],
  ['the events of a run', ['report', 'events.ndjson', '--markdown', 'summary.md']],
  ['parts of a run', ['merge', 'events.ndjson']],
  ['the host of a lock', ['check', ...ONE, '--events', 'locked.ndjson', ...of('fails')]],
  ['a data set', ['view', 'rows.jsonl']],
  ['names of metrics', ['monitor', 'log.jsonl']],
  ['a word of the command line', ['check', `--${EVIL}`]],
  ['the name of a file', ['view', `${EVIL}.jsonl`]],
  ['the name of a property', ['explain', EVIL]],
])('%s', async (_, argv) => {
  const { all = '', exitCode } = await execa(process.execPath, ['--import', LOADER, MAIN, ...argv], {
    cwd: folder,
    env: { NO_COLOR: '1', GITHUB_ACTIONS: '' },
    all: true,
    reject: false,
    input: '',
    stripFinalNewline: false,
  });
  expect(exitCode).toBeDefined();
  expect(all).not.toBe('');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  expect(all).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  expect(all).not.toMatch(/^\s*::/m);
  expect(all).not.toContain('##[');
});

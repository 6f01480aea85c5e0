// The tools without a process: what each takes, the words that this makes, and the short text of an answer.
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { answerOf } from '../../../src/cli/mcp/answer.ts';
import { progressOf } from '../../../src/cli/mcp/run.ts';
import { complaintOf, schemaOf, TOOLS, type Tool, wordsOf } from '../../../src/cli/mcp/tools.ts';
import { makeProgram } from '../commands.ts';

const toolOf = (name: string): Tool => TOOLS.find((tool) => tool.name === name) as Tool;

const program = await makeProgram();

function commandOf(name: string): Command {
  return program.commands.find((each) => each.name() === name) as Command;
}

test.each(TOOLS)('each argument of $name is an option or an argument of the command', (tool) => {
  const command = commandOf(tool.name);
  const flags = command.options.map(({ long }) => long);
  const given = Object.fromEntries(
    Object.entries(tool.takes).map(([key, { kind, choices }]) => {
      const value = { text: choices?.[0] ?? 'word', texts: ['word'], count: 3, flag: true }[kind];
      return [key, value];
    }),
  );
  const [name, ...words] = wordsOf(tool, given);
  expect(name).toBe(tool.name);
  const split = words.indexOf('--');
  const own = split < 0 ? words : words.slice(0, split);
  const options = own.filter((word) => word.startsWith('--')).map((word) => word.split('=', 1)[0]);
  expect(options.length).toBe(Object.values(tool.takes).filter(({ as }) => as === undefined).length);
  expect(flags).toEqual(expect.arrayContaining(options));
  const positional = own.filter((word) => !word.startsWith('--'));
  expect(positional.length).toBe(command.registeredArguments.length);
  expect(flags).toContain(tool.document === 'json' ? '--json' : '--findings');
  expect(flags.includes('--events')).toBe(tool.name === 'trace' || tool.events === true);
});

test('the schema of each tool refuses what it does not name', () => {
  for (const tool of TOOLS)
    expect(schemaOf(tool)).toMatchObject({ type: 'object', additionalProperties: false });
  expect(schemaOf(toolOf('trace'))).toMatchObject({
    required: ['command'],
    properties: {
      command: { type: 'array', items: { type: 'string' }, minItems: 1 },
      train_on: { enum: ['assistant', 'last', 'completion', 'all'] },
    },
  });
});

test('words of a command stay apart from options', () => {
  const given = {
    command: ['python', '--config', 'x y'],
    only: ['mask/*', 'kl'],
    max_time: 9,
    strict: false,
  };
  expect(wordsOf(toolOf('check'), given)).toEqual([
    'check',
    '--only=mask/*,kl',
    '--max-time=9',
    '--',
    'python',
    '--config',
    'x y',
  ]);
});

describe('a call that cannot be made is refused in one sentence', () => {
  test.each([
    ['check', {}, 'check needs exactly one of command, adapter, bundled'],
    ['check', { bundled: true, adapter: 'verl' }, 'check needs exactly one of command, adapter, bundled'],
    ['check', { bundled: false }, 'check needs exactly one of command, adapter, bundled'],
    ['check', { command: 'python a.py' }, 'command must be a list of texts, none of them empty'],
    ['check', { command: [] }, 'command must be a list of texts, none of them empty'],
    ['check', { command: ['a\0b'] }, 'command must be a list of texts, none of them empty'],
    ['check', { bundled: true, cases: 1.5 }, 'cases must be a whole number'],
    ['check', { bundled: true, html: 'x' }, 'check takes no argument "html"'],
    ['check', { bundled: true, csaes: 3 }, 'did you mean "cases"?'],
    ['check', { bundled: true, toString: 3 }, 'check takes no argument "toString"'],
    ['trace', {}, 'trace needs command'],
    ['view', { data: '--html=x' }, 'data must not begin with "-"'],
    ['explain', { ids: ['kl', '--json'] }, 'ids must not begin with "-"'],
    // Nothing runs that no call has named.
    ['replay', { case: '7f3a9c' }, 'replay needs exactly one of command, adapter, bundled'],
  ])('%s %j', (name, given, sentence) => {
    expect(complaintOf(toolOf(name), given)).toContain(sentence);
  });

  test.each([
    ['check', { bundled: true, level: 'may', seed: 0 }],
    ['replay', { case: '7f3a9c', command: ['python', '-m', 'adapter'] }],
    ['view', { conversation: '[]' }],
  ])('and one that can is not: %s %j', (name, given) => {
    expect(complaintOf(toolOf(name), given)).toBeUndefined();
  });
});

test('progress counts properties, and the cases of the one in hand', () => {
  const start = '{"type":"property-start","id":"mask/x","index":4,"total":30}';
  expect(progressOf('')).toBeUndefined();
  expect(progressOf(`{"type":"run-st\n${start}\n`)).toEqual({
    progress: 4,
    total: 30,
    message: 'checking mask/x',
  });
  const within = progressOf(`${start}\n{"type":"progress","id":"mask/x","done":99,"total":99}\n{"ty`);
  expect(within?.progress).toBeGreaterThan(4.9);
  expect(within?.progress).toBeLessThan(5);
});

describe('an answer', () => {
  const finding = {
    property: 'mask/x',
    verdict: 'fail',
    sentence: 'It is off.',
    next: ['npx lossproof replay a'],
  };
  const documentOf = (findings: readonly object[]) => ({
    schema: 1,
    runs: [{ counts: { pass: 3, fail: findings.length, skipped: 0 }, findings }],
  });

  test('says what is wrong and what to run next, and nothing of what the trainer printed', () => {
    const document = documentOf([finding, { ...finding, property: 'mask/y', explainedBy: 'mask/x' }]);
    const answer = answerOf(toolOf('check'), { exit: { exitCode: 1 }, document, printed: 'noise' });
    expect(answer.text).toBe(
      [
        'Something is wrong. Exit code 1.',
        'Properties: 3 pass, 2 fail.',
        '- mask/x (fail): It is off. Next: npx lossproof replay a',
        '- mask/y (fail): It is off. Repair mask/x first. Next: npx lossproof replay a',
      ].join('\n'),
    );
    expect(answer.document).toEqual(document);
  });

  test('that is long keeps the first findings, and says so', () => {
    const document = documentOf(Array.from({ length: 25 }, () => finding));
    const answer = answerOf(toolOf('check'), { exit: { exitCode: 1 }, document, printed: '' });
    expect(answer.text).toContain('15 more are left out');
    const { runs } = answer.document as { runs: { counts: object; findings: object[] }[] };
    const [run] = runs;
    expect(run?.counts).toMatchObject({ fail: 25 });
    expect(run?.findings).toHaveLength(10);
  });

  test('without a failure ends with what the command printed: what was not judged, or why', () => {
    const document = documentOf([]);
    const holds = answerOf(toolOf('check'), { exit: { exitCode: 0 }, document, printed: '2 were skipped\n' });
    expect(holds.text).toMatch(/^Nothing wrong was found\. [\s\S]*\n2 were skipped$/);
    const none = answerOf(toolOf('trace'), { exit: { exitCode: 2 }, document, printed: 'no torch\n' });
    expect(none.text).toMatch(/^No verdict\. Do not read this as a pass\. [\s\S]*\nno torch$/);
  });

  test('without a document is the reason, and no verdict', () => {
    const of = (printed: string, exit: object) =>
      answerOf(toolOf('check'), { exit, document: undefined, printed });
    expect(of('noise\nlossproof: there is no adapter.py\n', { exitCode: 2 })).toEqual({
      text: 'lossproof: there is no adapter.py',
    });
    const { text } = of('Killed \u001b[2J', { signal: 'SIGKILL' });
    expect(text).toContain('(SIGKILL). It printed: Killed');
    expect(text).not.toContain('\u001b');
    expect(of('', { spawnError: 'E2BIG' }).text).toBe('lossproof check could not be started: E2BIG');
  });
});

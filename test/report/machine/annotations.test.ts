import { expect, test } from 'vitest';
import { annotationLines } from '../../../src/report/machine/annotations.ts';
import { failure, maskStrip, result } from '../results.ts';
import { broken, cutOff, failing, HOSTILE, runWith } from './finished.ts';

interface Command {
  readonly type: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

/** Reads a line as the runner does: `::type key=value,key=value::message`, then the escapes. */
function parsed(line: string): Command {
  const [, type = '', properties = '', message = ''] = /^::(\w+) ([^:]*)::(.*)$/s.exec(line) ?? [];
  const plain = (text: string): string =>
    text
      .replaceAll('%0D', '\r')
      .replaceAll('%0A', '\n')
      .replaceAll('%3A', ':')
      .replaceAll('%2C', ',')
      .replaceAll('%25', '%');
  const pairs = properties.split(',').map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), plain(pair.slice(at + 1))];
  });
  return { type, properties: Object.fromEntries(pairs), message: plain(message) };
}

const commandsOf = (...results: Parameters<typeof runWith>[0]): Command[] =>
  annotationLines([runWith(results)]).map(parsed);

test('a failure is an error with its sentence, the columns around the first mark, and how to see it again', () => {
  const [first, last] = commandsOf(failing('mask/prompt-is-never-trained'));
  expect(first).toEqual({
    type: 'error',
    properties: { file: 'adapter.py', title: 'mask/prompt-is-never-trained' },
    message: `Token 5 '␠cap' (id 2117) belongs to the prompt of row 1, but the mask trains on it.

token     … ␠is │ ␠the │ [␠cap] │ ␠Paris │ </s>
expected  … 0   │ 0    │ [0]    │ 1      │ 1
observed  … 0   │ 0    │ [1]    │ 1      │ 0

npx lossproof replay 7f3a9c
npx lossproof check --seed 1836021 --cases 100 --only mask/prompt-is-never-trained -- python adapter.py`,
  });
  expect(last).toMatchObject({ type: 'notice', message: expect.stringContaining('1 property: 1 fails') });
});

test('text from a trainer ends no line, begins no command and moves no cursor', () => {
  const strip = { ...maskStrip(), tokens: maskStrip().tokens.map((token) => ({ ...token, text: HOSTILE })) };
  const hostile = failure({ finding: { kind: 'k', sentence: HOSTILE, strips: [strip] } });
  const lines = annotationLines([
    runWith([result({ id: HOSTILE, verdict: 'fail', failure: hostile }), broken('mask/x', HOSTILE)]),
  ]);
  expect(lines).toHaveLength(3);
  for (const line of lines) {
    expect(line).toMatch(/^::(error|notice) (file=[^:,]*,)?title=[^:,]*::/);
    expect(line).not.toMatch(/[\p{Cc}\p{Cs}\u202e]/u);
  }
  const { message } = parsed(lines[0] ?? '');
  expect(message).toContain('50% ::error::x, y\n::set-output::');
  // Long tokens leave room for fewer neighbours of the first mark.
  expect(message).toMatch(/observed {2}… 0 +│ \[1\] +│ 1 +…\n/);
});

test('what is most important is within the first ten, the last line counts the rest', () => {
  const crashes = Array.from({ length: 12 }, (_, at) => broken(`mask/crash-${at}`));
  const thin = result({ id: 'mask/thin', verdict: 'thin', reason: 'only 1 % had padding' });
  const should = { ...failing('mask/should'), level: 'should' } as const;
  const commands = commandsOf(
    thin,
    ...crashes,
    broken('mask/other', 'It hangs.'),
    should,
    failing('mask/must'),
  );
  const errors = commands.filter(({ type }) => type === 'error').map(({ properties }) => properties.title);
  expect(errors).toHaveLength(10);
  // Two crashes that are one stand behind a trouble of another kind.
  expect(errors.slice(0, 5)).toEqual([
    'mask/must',
    'mask/should',
    'mask/crash-0',
    'mask/other',
    'mask/crash-1',
  ]);
  const [warning] = commands.filter(({ type }) => type === 'warning');
  expect(warning?.message).toMatch(/^Thin: only 1 % had padding\.\n/);
  const stale = result({ id: 'mask/gone', verdict: 'unseen', reason: 'no property is called so' });
  expect(commandsOf(stale)[0]?.message).toBe('Unseen: no property is called so.');
  expect(commands.at(-1)).toMatchObject({ type: 'notice' });
  expect(commands.at(-1)?.message).toContain('5 more are in the log');
});

test('a run that was cut off is an error even where nothing has failed yet', () => {
  const [first] = annotationLines([cutOff(runWith([result()]))]).map(parsed);
  expect(first?.type).toBe('error');
  expect(first?.message).toContain('The events end before the run does, after 1 of 1 properties');
});

test('a run that holds is one notice, and several runs are told apart', () => {
  expect(commandsOf(result()).map(({ type }) => type)).toEqual(['notice']);
  const runs = [runWith([failing('mask/x')]), runWith([result()])];
  const [first, last] = annotationLines(runs).map(parsed);
  expect(first?.properties.title).toBe('mask/x (my-trainer 0.4 (1))');
  expect(last?.message.split('\n')).toHaveLength(2);
});

test('a message stays below what the runner cuts off', () => {
  const [first] = commandsOf(failing('mask/x', '👩‍👩‍👧'.repeat(20_000)));
  expect(first?.message.length).toBeLessThan(4_096);
  expect(first?.message).toContain('npx lossproof replay 7f3a9c');
});

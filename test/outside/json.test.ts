// The one door for JSON of others: whatever the text, the answer is a value, in time and room that its length bounds.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boundsComplaint, MOST_DEPTH } from '../../src/outside/bounds.ts';
import { parsePython, parseStrict } from '../../src/outside/json.ts';

const DOORS = [
  ['strict', parseStrict],
  ['python', parsePython],
] as const;

describe.each(DOORS)('%s', (name, parse) => {
  test('whatever JSON.parse takes comes out the same', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parse(text)).toEqual({ ok: JSON.parse(text) });
      }),
    );
  });

  test('a text that is cut, or has a character of another, is a value and never a throw', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string(), (text, at, put) => {
        const cut = at % (text.length + 1);
        const read = parse(text.slice(0, cut) + put + text.slice(cut + put.length));
        expect('ok' in read || read.complaint !== '').toBe(true);
      }),
    );
  });

  test.each([
    ['lists', '['.repeat(500_000), 'nested deeper than 200 levels'],
    ['objects', '{"a":'.repeat(500_000), 'nested deeper than 200 levels'],
    ['lists that close', '['.repeat(5_000) + ']'.repeat(5_000), 'nested deeper than 200 levels'],
    ['many lists', `[${'[],'.repeat(5_000_000)}[]]`, 'more than 4,194,304 lists and objects'],
    ['many keys', `{${'"a":1,'.repeat(2_200_000)}"b":1}`, 'more than 2,097,152 keys'],
    ['many values', `[${'1,'.repeat(17_000_000)}1]`, 'more than 16,777,216 values'],
  ])('%s without end are refused while they are text', (_, text, complaint) => {
    expect(parse(text)).toEqual({ complaint });
  });

  test('what is deep enough for anything is read', () => {
    const text = '['.repeat(MOST_DEPTH) + ']'.repeat(MOST_DEPTH);
    expect(parse(text)).toEqual({ ok: JSON.parse(text) });
  });

  test.each([
    ['a string of 20 million characters', `"${'a'.repeat(20_000_000)}"`],
    ['of nothing but escapes', `"${'\\"'.repeat(10_000_000)}"`],
    ['of nothing but backslashes', `"${'\\\\'.repeat(10_000_000)}"`],
    ['a number of 9 million digits', `0.${'1'.repeat(9_000_000)}`],
    ['white space', `${' '.repeat(20_000_000)}1${'\n'.repeat(20_000_000)}`],
  ])('%s is read', (_, text) => {
    // Behind a NaN the other parser has to read it.
    const read = parse(name === 'python' ? `[NaN,${text}]` : `[${text}]`);
    expect(read).toHaveProperty('ok');
  });

  test.each([
    ['"\\'.repeat(3_000_000)],
    [`"${'\\'.repeat(9_999_999)}`],
    [`"${'a'.repeat(20_000_000)}`],
    [`[NaN,${'-'.repeat(9_000_000)}]`],
    [`[NaN,${'1e'.repeat(5_000_000)}]`],
  ])('what is no JSON is a complaint, however long (%#)', (text) => {
    const read = parse(text);
    expect('complaint' in read && read.complaint.length).toBeLessThan(300);
  });

  test('a name that stands twice is the last, and "__proto__" is a name', () => {
    expect(parse('{"a": 1, "a": 2}')).toEqual({ ok: { a: 2 } });
    const read = parse('{"__proto__": {"polluted": 1}}');
    expect('ok' in read && Object.keys(read.ok as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

test('brackets in strings are letters', () => {
  expect(
    boundsComplaint(JSON.stringify({ a: '['.repeat(1_000), b: `\\"${'{'.repeat(1_000)}` })),
  ).toBeUndefined();
});

test('a byte order mark is passed over in files, and is none of a line', () => {
  expect(parseStrict('\uFEFF{"a": 1}')).toEqual({ ok: { a: 1 } });
  expect(parsePython('\uFEFF{"a": 1}')).toHaveProperty('complaint');
});

test('a complaint is one line, whatever the engine quotes', () => {
  const read = parseStrict('x\n✓ None of 1 row is flagged.\n');
  expect('complaint' in read && read.complaint).toMatch(/^[^\n]*x ✓ None/);
});

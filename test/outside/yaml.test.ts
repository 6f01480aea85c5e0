// The door for YAML: as PyYAML reads it, and bounded.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MOST_YAML_BYTES, parseYaml } from '../../src/outside/yaml.ts';

const parsed = (text: string): unknown => {
  const read = parseYaml(text);
  return 'ok' in read ? read.ok.value : read;
};

test('words for true and false are those of YAML 1.1', () => {
  expect(parsed('a: yes\nb: off\nc: "no"\nd: ~')).toEqual({ a: true, b: false, c: 'no', d: null });
});

test('keys have their lines, and of one that is given twice the last counts', () => {
  const read = parseYaml('# a comment\na: 1\nb:\n  a: 2\na: 3\n');
  expect(read).toEqual({
    ok: {
      value: { a: 3, b: { a: 2 } },
      lines: new Map([
        ['a', 5],
        ['b', 3],
        ['b.a', 4],
      ]),
      twice: ['a'],
    },
  });
});

test('aliases that multiply, a text that is too long, and what is no YAML are complaints', () => {
  const row = (name: string, of: string): string => `${name}: &${name} [${Array(10).fill(of).join(',')}]`;
  const bomb = [row('a', '1'), row('b', '*a'), row('c', '*b'), row('d', '*c')].join('\n');
  expect(parseYaml(bomb)).toHaveProperty('complaint');
  expect(parseYaml('a: *a')).toHaveProperty('complaint');
  expect(parseYaml(' '.repeat(MOST_YAML_BYTES + 1))).toHaveProperty('complaint');
  expect(parseYaml('a: [')).toHaveProperty('complaint');
});

test('a key of a prototype is a key', () => {
  const value = parsed('__proto__: 1\nconstructor: 2') as object;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(Object.keys(value).sort()).toEqual(['__proto__', 'constructor']);
});

test('whatever the text, the answer is a value or a complaint', () => {
  const token = fc.constantFrom(
    'a',
    ':',
    ' ',
    '\n',
    '- ',
    '&a ',
    '*a',
    '[',
    ']',
    '{',
    '}',
    '"',
    '!!x ',
    '<<',
    '|',
    '#',
    '%',
    '\t',
    '?',
    '---',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(token, { maxLength: 30 }).map((each) => each.join('')),
      ),
      (text) => {
        const read = parseYaml(text);
        expect('ok' in read || typeof read.complaint === 'string').toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test('JSON is read as what it is', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.stringMatching(/^[a-z_]+$/), fc.oneof(fc.integer(), fc.boolean(), fc.string())),
      (value) => {
        expect(parsed(JSON.stringify(value))).toEqual(value);
      },
    ),
  );
});

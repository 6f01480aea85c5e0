import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { pythonLiteral } from '../../../src/report/text/python.ts';

test('words and numbers are those of Python', () => {
  expect(
    pythonLiteral([null, true, false, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]),
  ).toBe("[None, True, False, -0.0, float('nan'), float('inf'), -float('inf')]");
});

test('Python reads every value back as it was', () => {
  const value = {
    text: [
      '',
      ' ',
      'it\'s "quoted" \\ \n\r\t\0',
      '\u202e\u200b\ufeff\u00a0',
      'é 漢 👩‍👧',
      '\ud83d',
      '\udc00x',
    ],
    numbers: [0, -1, 1.5, 1e-7, 1e21, 9007199254740991],
    nested: [[], {}, [{ 'a"b': null }]],
  };
  const program = 'import json, sys; print(json.dumps(eval(sys.stdin.read())))';
  const printed = execFileSync('python3', ['-c', program], { input: pythonLiteral(value), encoding: 'utf8' });
  expect(JSON.parse(printed)).toEqual(value);
});

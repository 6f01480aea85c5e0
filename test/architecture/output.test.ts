// One way out: what is printed passes through src/cli/way-out.ts, which knows what a terminal would obey and what a lost reader means.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, sources } from './house.ts';

/** Before the program is loaded, where a line is all of ours; and a question, which is made inert there. */
const OTHERS = ['src/cli/ask.ts', 'src/cli/main.ts'];

test('only the way out writes to standard output and standard error', () => {
  const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
  const writing = sources.filter((file) =>
    /\bprocess\.std(?:out|err)\.write\b|\bconsole\.\w+\(|output: process/.test(textOf(file)),
  );
  expect(writing).toEqual(OTHERS);
  const executable = textOf('src/cli/executable.ts');
  expect(executable.match(/process\.std(?:out|err)\b(?!\.isTTY)/g)).toHaveLength(2);
});

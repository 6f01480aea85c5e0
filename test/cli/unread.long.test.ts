// Every command of the program, with a standard output that nobody reads any more and with one that is full: it works to its end and
// exits with its own code, except that success on a full output is no verdict. Nothing stays locked.
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS, prepared, troublesOf } from './unread.ts';

test.each(['gone', 'full'] as const)(
  'a standard output that is %s changes no verdict',
  { timeout: 1_200_000 },
  async (output) => {
    const folder = await prepared();
    expect(await troublesOf(folder, Object.keys(COMMANDS), output)).toEqual({});
    rmSync(folder, { recursive: true, force: true });
  },
);

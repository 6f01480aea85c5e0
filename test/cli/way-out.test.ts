// How wide a screen is that is no terminal.
import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { openWayOut } from '../../src/cli/way-out.ts';

const pipe = new PassThrough() as unknown as NodeJS.WriteStream;
afterEach(() => void vi.unstubAllEnvs());

test.each([
  ['64', 64],
  ['132', 132],
  ['', 80],
  ['0', 80],
  ['-3', 80],
  ['wide', 80],
  ['80.5', 80],
] as const)('COLUMNS=%s of a pipe is %i columns', (told, columns) => {
  vi.stubEnv('COLUMNS', told);
  expect(openWayOut(pipe).screen.columns).toBe(columns);
});

test('a terminal knows its own width', () => {
  vi.stubEnv('COLUMNS', '80');
  const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 120 });
  expect(openWayOut(terminal as unknown as NodeJS.WriteStream).screen.columns).toBe(120);
});

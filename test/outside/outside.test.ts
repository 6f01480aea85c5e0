// Shapes, files and text of others.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readBytes, readJson, readText } from '../../src/outside/file.ts';
import { countOf } from '../../src/outside/shape.ts';
import { clipped, onOneLine } from '../../src/outside/text.ts';

test.each([
  [[2, 3], 24, { ok: 6 }],
  [[], 4, { ok: 1 }],
  [[0, 4_000_000_000], 0, { complaint: 'has too many rows for having no values' }],
  [[400_000_000, 0], 0, { complaint: 'has too many rows for having no values' }],
  [[8, 0], 0, { ok: 0 }],
  [[4_000_000_000, 4_000_000_000], 0, { complaint: 'is 64000000000000000000 bytes, its data has 0' }],
  [[-4, -4], 64, { complaint: 'has a length that is no whole number from 0' }],
  [[0.5, 32], 64, { complaint: 'has a length that is no whole number from 0' }],
  [[null, 16], 0, { complaint: 'has a length that is no whole number from 0' }],
  [['16'], 64, { complaint: 'has a length that is no whole number from 0' }],
  ['16', 64, { complaint: 'is no list of lengths' }],
  [[1, 1, 1, 1, 1], 4, { complaint: 'is no list of lengths' }],
])('the shape %j of %i bytes', (shape, bytes, result) => {
  expect(countOf(shape, { dimensions: 4, bytesOfOne: 4, bytes })).toEqual(result);
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'lossproof outside ü '));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test('only a regular file of a size that is meant to be read is opened', () => {
  const place = folder();
  const file = join(place, 'a.json');
  writeFileSync(file, '\uFEFF{"a": [1, NaN]}');
  expect(readText(file)).toEqual({ ok: '{"a": [1, NaN]}' });
  expect(readJson(file, { dialect: 'python' })).toEqual({ ok: { a: [1, Number.NaN] } });
  expect(readJson(file)).toHaveProperty('complaint');
  expect(readBytes(place)).toEqual({ complaint: 'it is a folder' });
  execFileSync('mkfifo', [join(place, 'fifo')]);
  expect(readBytes(join(place, 'fifo'))).toEqual({ complaint: 'it is no file but a pipe or a device' });
  expect(readBytes('/dev/zero')).toEqual({ complaint: 'it is no file but a pipe or a device' });
  expect(readBytes(join(place, 'none'))).toEqual({ complaint: expect.stringContaining('ENOENT') });
  expect(readBytes(join(place, 'a\0b'))).toHaveProperty('complaint');
  truncateSync(file, 2 ** 40);
  expect(readBytes(file)).toEqual({
    complaint: 'it has 1,099,511,627,776 bytes; 67,108,864 are read at most',
  });
});

test('long text keeps its beginning and its end, and says what is left out', () => {
  expect(clipped('short', 10)).toBe('short');
  expect(clipped(`${'a'.repeat(50)}${'b'.repeat(50)}`, 10)).toBe(
    'aaaaa\n… (90 of 100 characters left out) …\nbbbbb',
  );
});

test('a name is one line', () => {
  expect(onOneLine(' a\n\r\u2028b\u0085c\t', 10)).toBe('a b c');
  expect(onOneLine('x'.repeat(5_000_000), 3)).toBe('xxx… (5,000,000 characters)');
});

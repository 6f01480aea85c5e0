// Golden files on the disk: whole or not at all, and nothing but golden files is read.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { entryOf, fileText, type GoldenFile } from '../../src/golden/file.ts';
import { readGolden, writeGolden } from '../../src/golden/folder.ts';

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gold en ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'golden');
}

function decoded(text: string): GoldenFile {
  const said = { kind: 'answer', fields: { text } } as const;
  return {
    stage: 'decode',
    head: { set: 1, trainer: 'x' },
    entries: [entryOf('decode/words', 'decode', { ids: [5] }, said, { text })],
  };
}

test('what was written is read, and nothing else lies there', () => {
  const folder = emptyFolder();
  expect(readGolden(folder)).toEqual({ files: [] });
  expect(writeGolden(folder, [decoded('Grüße')])).toBeUndefined();
  expect(readdirSync(folder)).toEqual(['decode.json']);
  expect(readGolden(folder)).toMatchObject({ files: [{ stage: 'decode' }] });
});

test('a file without entries is taken away', () => {
  const folder = emptyFolder();
  writeGolden(folder, [decoded('a')]);
  expect(writeGolden(folder, [{ ...decoded('a'), entries: [] }])).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});

test('what a killed process left is no golden file, and the good one is still there', () => {
  const folder = emptyFolder();
  writeGolden(folder, [decoded('a')]);
  writeFileSync(join(folder, '.decode.json.4711.tmp'), fileText(decoded('b')).slice(0, 40));
  const read = readGolden(folder);
  expect('files' in read ? read.files.map(fileText) : read).toEqual([fileText(decoded('a'))]);
});

test('nothing is replaced where one of the files cannot be written', () => {
  const folder = emptyFolder();
  writeGolden(folder, [decoded('a')]);
  // There is no folder for the second file: it is noticed when the first already lies beside its place.
  const problem = writeGolden(folder, [decoded('b'), { ...decoded('b'), stage: 'none/kl' }]);
  expect(problem).toContain('cannot be written');
  expect(readFileSync(join(folder, 'decode.json'), 'utf8')).toBe(fileText(decoded('a')));
  expect(readdirSync(folder)).toEqual(['decode.json']);
});

test.skipIf(process.getuid?.() === 0)('a folder that may not be written is a sentence', () => {
  const folder = emptyFolder();
  mkdirSync(folder);
  chmodSync(folder, 0o500);
  expect(writeGolden(folder, [decoded('a')])).toContain('cannot be written');
  chmodSync(folder, 0o700);
});

test.each([
  ['decode.json', '{', 'is no JSON'],
  ['notes.json', '{"a": 1}', 'is no golden file'],
  ['kl.json', fileText(decoded('a')), 'holds stage "decode", which belongs into decode.json'],
  [
    'decode.json',
    fileText(decoded('a')).replace('decode/words', 'kl/words'),
    '"kl/words" is no entry of stage "decode"',
  ],
])('%s is complained about by its path', (name, text, complaint) => {
  const folder = emptyFolder();
  mkdirSync(folder);
  writeFileSync(join(folder, name), text);
  const read = readGolden(folder);
  expect('problem' in read ? read.problem : '').toContain(join(folder, name));
  expect('problem' in read ? read.problem : '').toContain(complaint);
});

test('what is no folder is a problem, and not an empty one', () => {
  const folder = emptyFolder();
  writeFileSync(folder, '');
  const read = readGolden(folder);
  expect('problem' in read ? read.problem : '').toContain(`${folder} cannot be read: ENOTDIR`);
});

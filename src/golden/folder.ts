// A folder of golden files on the disk. A file is replaced whole or not at all: what is half written never has a golden
// file's name.
import { closeSync, fsyncSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readText } from '../outside/file.ts';
import { makeFolders } from '../outside/folder.ts';
import { openTemporary, sweepTemporaries } from '../outside/temporary.ts';
import { fileText, type GoldenFile, readFile } from './file.ts';

/** All golden files of the folder; `[]` where there is none. One that cannot be read is a problem that names it. */
export function readGolden(folder: string): { files: readonly GoldenFile[] } | { problem: string } {
  const files: GoldenFile[] = [];
  const names = namesIn(folder);
  if (!Array.isArray(names)) return names;
  for (const name of names) {
    const path = join(folder, name);
    const text = readText(path);
    if ('complaint' in text) return { problem: `${path} cannot be read: ${text.complaint}` };
    const read = readFile(text.ok);
    if ('complaint' in read)
      return { problem: `${path}${/^[:.]/.test(read.complaint) ? '' : ' '}${read.complaint}` };
    const { file } = read;
    if (name !== fileName(file.stage))
      return { problem: `${path} holds stage "${file.stage}", which belongs into ${fileName(file.stage)}` };
    const stranger = file.entries.find(({ id }) => !id.startsWith(`${file.stage}/`));
    if (stranger !== undefined)
      return { problem: `${path}: "${stranger.id}" is no entry of stage "${file.stage}"` };
    files.push(file);
  }
  return { files };
}

/** Writes these files and leaves all others; one without entries is removed. Why not, as a sentence, or undefined. */
export function writeGolden(folder: string, files: readonly GoldenFile[]): string | undefined {
  const written = new Map<string, string>();
  try {
    makeFolders(folder);
    sweepTemporaries(folder);
    // All are on the disk before the first takes its place.
    for (const file of files.filter(({ entries }) => entries.length > 0)) {
      const { path, descriptor } = openTemporary(join(folder, fileName(file.stage)));
      written.set(file.stage, path);
      writeThrough(descriptor, fileText(file));
    }
    for (const { stage } of files) {
      const path = join(folder, fileName(stage));
      const temporary = written.get(stage);
      if (temporary === undefined) rmSync(path, { force: true });
      else renameSync(temporary, path);
    }
    return undefined;
  } catch (error) {
    for (const temporary of written.values()) rmSync(temporary, { force: true, recursive: true });
    return `${folder} cannot be written: ${whyOf(error)}`;
  }
}

// --- helpers ---

const ENDING = '.json';

function fileName(stage: string): string {
  return stage + ENDING;
}

/** None where there is no folder: nothing is recorded yet. */
function namesIn(folder: string): string[] | { problem: string } {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((each) => each.isFile() && each.name.endsWith(ENDING) && !each.name.startsWith('.'))
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    return { problem: `${folder} cannot be read: ${whyOf(error)}` };
  }
}

/** On the disk, and not only in the cache of the system: a power cut behind the rename must not leave an empty file. */
function writeThrough(descriptor: number, text: string): void {
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function whyOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

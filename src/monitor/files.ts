// The logs of a job on disk: which files there are, whose run they are, and their bytes, handed to the readers in pieces.
// The only file here that touches the disk.
import {
  closeSync,
  createReadStream,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { constants, createGunzip, gunzipSync } from 'node:zlib';
import { nearestName } from '../protocol/nearest.ts';
import { HEAD_BYTES, isCandidate } from './read/files/detect.ts';
import type { Disk, Found, OpenFile } from './read/files/disk.ts';
import type { LogSource } from './read/files/log.ts';
import { globPattern } from './read/files/runs.ts';
import { logSource } from './read/files/source.ts';

export interface LogOptions {
  /** Paths are meant from here. Default: the process's own. */
  readonly cwd?: string;
  /** The job may still run: `poll` will be called. A last line that may not be whole is then no complaint. */
  readonly follow?: boolean;
}

/** `paths`: files, folders (searched deep), or globs. The problem is one sentence that says what to do. */
export function openLogs(
  paths: readonly string[],
  { cwd = process.cwd(), follow = false }: LogOptions = {},
): LogSource | { readonly problem: string } {
  for (const path of paths) {
    const problem = missing(path, cwd);
    // A job that has just been started has not made its folder yet.
    if (problem !== undefined && !(follow && path !== '')) return { problem };
  }
  const source = logSource(diskAt(cwd), [...new Set(paths.map(tidy))], follow);
  // The log of a job that has just begun may come.
  if (source.files.length > 0 || follow) return source;
  const reasons = source.passedOver.map(({ why }) => why);
  return {
    problem:
      reasons.length > 0
        ? reasons.join(' ')
        : `${paths.map(tidy).join(', ')} ${paths.length === 1 ? 'holds' : 'hold'} no log; looked for TensorBoard event files (*tfevents*), trainer_state.json, JSON lines (*.jsonl), CSV, W&B (*.wandb) and Parquet. Name the file of printed output to have it read.`,
  };
}

// --- the search ---

/** A folder with more is no folder of logs; looking further would take minutes. */
const MOST_FILES = 100_000;
const DEEPEST_FOLDER = 20;
/** Code, packages and caches: never logs, and many files; and W&B's link to a folder beside it. */
const PASSED_FOLDERS: ReadonlySet<string> = new Set([
  'node_modules',
  '__pycache__',
  'site-packages',
  'venv',
  'latest-run',
]);

function tidy(path: string): string {
  return normalize(path).replace(/(?<=.)\/$/, '');
}

const isGlob = (path: string): boolean => /[*?{]/.test(path);

function missing(path: string, cwd: string): string | undefined {
  if (path === '') return 'A path of a log is empty.';
  const whole = resolve(cwd, path);
  if (existsSync(whole)) return undefined;
  if (isGlob(path)) {
    const { folder } = globParts(tidy(path));
    return existsSync(resolve(cwd, folder)) ? undefined : missing(folder, cwd);
  }
  const folder = dirname(whole);
  if (!existsSync(folder)) return missing(dirname(tidy(path)), cwd);
  const beside = namesIn(folder);
  const near = nearestName(basename(whole), beside);
  const hint =
    near !== undefined
      ? `did you mean ${join(dirname(tidy(path)), near)}?`
      : beside.length > 0
        ? `beside it ${beside.length === 1 ? 'is' : 'are'} ${beside.slice(0, 5).join(', ')}${beside.length > 5 ? '…' : ''}.`
        : 'its folder is empty.';
  return `${path} does not exist; ${hint}`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** The folder that a glob begins in. */
function globParts(path: string): { readonly folder: string } {
  const parts = path.split('/');
  const first = parts.findIndex(isGlob);
  const folder = parts.slice(0, first).join('/');
  return { folder: folder !== '' ? folder : path.startsWith('/') ? '/' : '.' };
}

function searchAt(path: string, cwd: string): readonly Found[] {
  const found: Found[] = [];
  const folders = new Set<string>();
  let left = MOST_FILES;

  /** @param wanted which files below; undefined: those that may be logs */
  function walk(folder: string, top: string, wanted: RegExp | undefined, depth: number): void {
    const real = realOf(resolve(cwd, folder));
    if (real === undefined || folders.has(real) || depth > DEEPEST_FOLDER) return;
    folders.add(real);
    for (const name of namesIn(real)) {
      if (left-- <= 0) return;
      const inner = folder === '.' ? name : join(folder, name);
      const kind = kindOf(resolve(cwd, inner));
      if (kind === 'file' && (wanted?.test(inner) ?? isCandidate(name)))
        add(inner, top, wanted !== undefined);
      else if (kind === 'folder') {
        // A glob may name folders: they are searched as if they had been named.
        if (wanted?.test(inner)) walk(inner, inner, undefined, depth + 1);
        else if (!name.startsWith('.') && !PASSED_FOLDERS.has(name)) walk(inner, top, wanted, depth + 1);
      }
    }
  }

  function add(shown: string, top: string, named: boolean): void {
    const real = realOf(resolve(cwd, shown));
    if (real !== undefined) found.push({ path: shown, real, top, named });
  }

  const kind = kindOf(resolve(cwd, path));
  if (kind === 'folder') walk(path, path, undefined, 0);
  else if (kind !== undefined) add(path, path, true);
  else if (isGlob(path)) walk(globParts(path).folder, globParts(path).folder, globPattern(path), 0);
  return found;
}

function kindOf(path: string): 'file' | 'folder' | 'other' | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other';
  } catch {
    return undefined;
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

// --- bytes ---

/** Of a packed file: what HEAD_BYTES are unpacked from at most. It keeps a bomb small. */
const PACKED_HEAD_BYTES = 4096;

function diskAt(cwd: string): Disk {
  return {
    search: (path) => searchAt(path, cwd),
    state: (real) => {
      const stats = statSync(real);
      if (!stats.isFile()) throw new Error('it is no file');
      return { size: stats.size, modified: stats.mtimeMs, inode: stats.ino };
    },
    head,
    open,
    unpack,
  };
}

function head(real: string, packed: boolean): Uint8Array {
  const { fill, close } = open(real);
  try {
    const bytes = new Uint8Array(packed ? PACKED_HEAD_BYTES : HEAD_BYTES);
    const read = bytes.subarray(0, fill(bytes, 0) as number);
    return packed ? gunzipSync(read, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, HEAD_BYTES) : read;
  } finally {
    close();
  }
}

function open(real: string): OpenFile {
  const fd = openSync(real, 'r');
  /** As much as there is. */
  const fill = (into: Uint8Array, at: number): number => {
    let got = 0;
    while (got < into.length) {
      const more = readSync(fd, into, got, into.length - got, at + got);
      if (more === 0) break;
      got += more;
    }
    return got;
  };
  const byteLength = statSync(real).size;
  const slice = (start: number, end = byteLength): ArrayBuffer => {
    const into = new Uint8Array(Math.max(0, Math.min(end, byteLength) - start));
    fill(into, start);
    return into.buffer;
  };
  return { fill, random: { byteLength, slice }, close: () => closeSync(fd) };
}

/** The stream goes forward only, which is how a file is read the first time. */
function unpack(real: string): Omit<OpenFile, 'random'> {
  const file = createReadStream(real);
  const stream = createGunzip();
  file.on('error', (error) => stream.destroy(error));
  const pieces = file.pipe(stream)[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let piece = new Uint8Array(0);
  let place = 0;
  const fill = async (into: Uint8Array, at: number): Promise<number> => {
    // What a reader skips by its length has to be unpacked all the same.
    while (piece.length === 0 || place + piece.length <= at) {
      place += piece.length;
      const next = await pieces.next();
      if (next.done === true) {
        piece = new Uint8Array(0);
        return 0;
      }
      piece = new Uint8Array(next.value);
    }
    piece = piece.subarray(at - place);
    place = at;
    const part = piece.subarray(0, into.length);
    into.set(part);
    piece = piece.subarray(part.length);
    place += part.length;
    return part.length;
  };
  const close = (): void => {
    file.destroy();
    stream.destroy();
  };
  return { fill, close };
}

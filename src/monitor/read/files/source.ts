// The files of a reading, each read to its end, and on from there when it has grown.
import { pace } from '../../../bounds.ts';
import type { LogSink } from '../../series.ts';
import { nothingPushed, type Pushed } from '../json/document.ts';
import { readParquet } from '../parquet.ts';
import { type Complain, complaintsOf, type Reader } from '../reader.ts';
import { readerOf } from '../readers.ts';
import type { LogKind } from './detect.ts';
import type { Disk, Found, State } from './disk.ts';
import type { LogSource, PassedOver, Progress } from './log.ts';
import { type Look, look } from './look.ts';
import { inOrder, needless, runOfMetrics, runOfSamples } from './runs.ts';
import { openWindow } from './window.ts';

export function logSource(disk: Disk, paths: readonly string[], follow: boolean): LogSource {
  const entries: Entry[] = [];
  const passedOver: PassedOver[] = [];
  const known = new Set<string>();
  /** Files that are no logs, with their size: when they have grown they are looked at again. */
  const noLogs = new Map<string, number>();
  const pushedOf = new Map<string, Pushed>();
  const window = openWindow();
  let closed = false;

  function search(): void {
    const fresh: Entry[] = [];
    const files = paths.flatMap((path) => disk.search(path));
    // What is named and lies in a folder that is named, too, counts as named.
    for (const found of [...files.filter(({ named }) => named), ...files]) {
      if (known.has(found.real)) continue;
      const entry = lookAt(found);
      if (entry === undefined) continue;
      known.add(found.real);
      fresh.push(entry);
    }
    for (const entry of fresh) if (!entry.samples) entry.run = runOfMetrics(entry);
    const metrics = [...entries, ...fresh].filter(({ samples }) => !samples);
    for (const entry of fresh) if (entry.samples) entry.run = runOfSamples(entry.path, entry.top, metrics);
    for (const entry of fresh) {
      const why = needless(entry, metrics);
      if (why === undefined) entries.push(entry);
      else if (why !== '') passedOver.push({ path: entry.path, why });
    }
    // Rollouts last: what a run says of its settings is known by then.
    entries.sort((a, b) => Number(a.samples) - Number(b.samples) || inOrder(a.path, b.path));
  }

  function lookAt(found: Found): Entry | undefined {
    let why: string;
    try {
      const { size } = disk.state(found.real);
      if (noLogs.get(found.real) === size) return undefined;
      const first = !noLogs.has(found.real);
      noLogs.set(found.real, size);
      const looked = look(found, disk);
      if ('detected' in looked) return entryOf(found, looked);
      // In a folder lies much that is no log; one that a running job has just created is waited for.
      if (!found.named || !first || (follow && size === 0)) return undefined;
      why = looked.why;
    } catch (error) {
      if (noLogs.get(found.real) === UNREADABLE) return undefined;
      noLogs.set(found.real, UNREADABLE);
      why = `cannot be read: ${reasonOf(error)}.`;
    }
    passedOver.push({ path: found.path, why: `${found.path} ${why}` });
    return undefined;
  }

  async function readEntry(entry: Entry, sink: LogSink, rest: Rest): Promise<boolean> {
    entry.complain ??= complaintsOf(entry.path, (sentence) => sink.complain(sentence));
    const { complain } = entry;
    try {
      const state = disk.state(entry.real);
      const { state: before } = entry;
      if (before?.size === state.size && before.inode === state.inode && before.modified === state.modified)
        return false;
      if (!beginAgain(entry, before, state, complain)) return false;
      entry.state = state;
      if (entry.detected.kind === 'Parquet') await readWhole(entry, sink, complain);
      else await readPieces(entry, sink, complain, rest);
      return true;
    } catch (error) {
      if (!entry.failed) complain(`It cannot be read: ${reasonOf(error)}.`);
      entry.failed = true;
      return false;
    }
  }

  /** Whether there is something to read in what has changed. */
  function beginAgain(entry: Entry, before: State | undefined, now: State, complain: Complain): boolean {
    if (before === undefined) return true;
    if (entry.packed || entry.done) {
      if (!entry.failed) complain('It was written again after it had been read; that is not followed.');
      entry.failed = true;
      return false;
    }
    const document = DOCUMENTS.has(entry.detected.kind);
    if (now.size >= before.size && now.inode === before.inode && !document) return now.size > before.size;
    if (!document)
      complain(
        now.inode === before.inode
          ? `It was cut from ${before.size} to ${now.size} bytes; it is read from its beginning.`
          : 'Another file was put in its place; it is read from its beginning.',
      );
    entry.reader = undefined;
    entry.at = 0;
    return true;
  }

  async function readPieces(entry: Entry, sink: LogSink, complain: Complain, rest: Rest): Promise<void> {
    const { path, run, detected } = entry;
    const pushed = pushedOf.get(run) ?? nothingPushed();
    pushedOf.set(run, pushed);
    entry.reader ??= readerOf(detected, { path, run, pushed, finished: !follow }, sink, complain);
    const file = entry.packed ? disk.unpack(entry.real) : disk.open(entry.real);
    try {
      entry.at = await window.run(entry.reader, file.fill, entry.at, rest);
    } finally {
      file.close();
    }
  }

  async function readWhole(entry: Entry, sink: LogSink, complain: Complain): Promise<void> {
    const file = disk.open(entry.real);
    try {
      entry.done = await readParquet(entry, file.random, sink, complain);
      if (entry.done) entry.at = file.random.byteLength;
      else if (!follow)
        complain('Its end is missing, so that it cannot be read: it was not written to its end.');
    } finally {
      file.close();
    }
  }

  async function readEach(sink: LogSink, progress?: (progress: Progress) => void): Promise<boolean> {
    let anything = false;
    let rested = performance.now();
    let shown = Number.NEGATIVE_INFINITY;
    for (const entry of [...entries]) {
      if (closed) break;
      const rest = async (at: number): Promise<boolean> => {
        const now = performance.now();
        if (now - rested < REST_MILLISECONDS) return !closed;
        if (progress !== undefined && now - shown > SHOWN_MILLISECONDS) {
          shown = now;
          progress(progressOf(entries, entry, at));
        }
        await new Promise<void>((go) => void setImmediate(go));
        rested = performance.now();
        return !closed;
      };
      anything = (await readEntry(entry, sink, rest)) || anything;
    }
    return anything;
  }

  search();
  return {
    files: entries,
    passedOver,
    async readAll(sink, progress) {
      await readEach(sink, progress);
    },
    async poll(sink) {
      if (closed) return false;
      search();
      return readEach(sink);
    },
    close: () => {
      closed = true;
    },
  };
}

// --- one file ---

type Rest = (at: number) => Promise<boolean>;

interface Entry extends Found, Look {
  readonly kind: LogKind;
  run: string;
  /** When it was read the last time. */
  state: State | undefined;
  /** Place that reading goes on at. */
  at: number;
  reader: Reader | undefined;
  complain: Complain | undefined;
  /** Nothing can follow. */
  done: boolean;
  /** It was said that it cannot be read. */
  failed: boolean;
}

function entryOf(found: Found, looked: Look): Entry {
  return {
    ...found,
    ...looked,
    kind: looked.detected.kind,
    run: '',
    state: undefined,
    at: 0,
    reader: undefined,
    complain: undefined,
    done: false,
    failed: false,
  };
}

/** Written anew each time. */
const DOCUMENTS: ReadonlySet<LogKind> = new Set(['trainer_state.json', 'JSON list']);
/** In place of a size. */
const UNREADABLE = -1;
/** A view that is drawn meanwhile does not stutter. */
const REST_MILLISECONDS = pace(20);
const SHOWN_MILLISECONDS = pace(100);

function progressOf(entries: readonly Entry[], current: Entry, at: number): Progress {
  let read = 0;
  let bytes = 0;
  for (const entry of entries) {
    const size = entry.state?.size ?? 0;
    bytes += size;
    read += Math.min(size, entry === current ? at : entry.at);
  }
  return { read, bytes, path: current.path };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

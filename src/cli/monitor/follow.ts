// Following a job: look, say what is new, sleep, look again; until something ends it. What is said is drawn on a terminal,
// and elsewhere only where there is news.
import { setTimeout as sleep } from 'node:timers/promises';
import { pace } from '../../bounds.ts';
import type { History } from '../../monitor/history/history.ts';
import type { LogSource } from '../../monitor/read/files/log.ts';
import { standingOf, viewsOf } from '../../monitor/view.ts';
import { ago, liveLines, type MonitorPrint, readWords } from '../../report/monitor/monitor.ts';
import { plural } from '../../report/text/plural.ts';
import { harmless } from '../../report/text/visible.ts';
import type { Screen } from '../context.ts';
import { liveBlock } from '../live-block.ts';
import type { News, Telling } from './telling.ts';

/** Why following ended. */
export type Ending = 'broken' | 'ended' | 'idle' | 'stopped' | 'interrupted';

export interface Following {
  readonly source: LogSource;
  readonly history: History;
  readonly screen: Screen;
  /** A block is redrawn. */
  readonly live: boolean;
  readonly quiet: boolean;
  readonly print: MonitorPrint;
  /** Seconds. */
  readonly interval: number;
  readonly idle: number | undefined;
  /** A rule whose failure ends it. */
  readonly ends: (news: News) => boolean;
  /** Aborted with `interrupted` or `stopped`. */
  readonly signal: AbortSignal;
  /** What is waited for: the paths, as typed. */
  readonly paths: string;
  /** Violations since the last look. */
  readonly news: () => readonly News[];
  readonly telling: Telling;
  /** Called at a look that brought violations, before they are told: who hears of one finds it written. */
  readonly broken: () => Promise<void>;
}

export async function follow(following: Following): Promise<Ending> {
  const { source, history, screen, live, quiet, print, interval, idle, signal, telling } = following;
  const block = live ? liveBlock(screen) : undefined;
  const say = (...lines: readonly string[]): void => {
    if (block !== undefined) block.say(lines);
    else for (const line of lines) screen.write(`${line}\n`, telling.as);
  };
  let known = 0;
  let unread = 0;
  let lastNew = performance.now();
  let lastSaid = performance.now();
  let lastDrawn = Number.NEGATIVE_INFINITY;
  const seconds = (since: number): number => (performance.now() - since) / PER_SECOND;

  const tell = async (): Promise<boolean> => {
    const files = source.files.slice(known);
    known = source.files.length;
    const complaints = history.complaints().slice(unread);
    unread += complaints.length;
    const broken = following.news();
    const several = history.runs().length > 1;
    if (broken.length > 0) await following.broken();
    const lines = [
      ...(quiet ? [] : fileLines(files)),
      ...complaints.flatMap(telling.complaint),
      ...broken.flatMap((each) => telling.news(each, several)),
    ];
    if (lines.length > 0) {
      say(...lines);
      lastSaid = performance.now();
    }
    return broken.some(following.ends);
  };
  const show = (): void => {
    // A pipe may bring something a thousand times per second.
    if (block !== undefined && seconds(lastDrawn) < REDRAWN) return;
    lastDrawn = performance.now();
    const { points, samples } = history;
    const read = { files: source.files.length, points: points(), samples: samples(), runs: viewsOf(history) };
    const empty = read.points + read.samples === 0;
    if (block !== undefined)
      block.draw(
        liveLines(
          {
            ...read,
            standing: standingOf(history),
            silent: empty ? undefined : seconds(lastNew),
            waiting: `waiting for a first point in ${following.paths}`,
          },
          Math.min(MOST_ROWS, (screen.rows ?? MOST_ROWS) - 1),
          { ...print, width: print.width - 1 },
        ),
      );
    else if (!quiet && seconds(lastSaid) >= HEARTBEAT) {
      lastSaid = performance.now();
      say(
        harmless(
          `… ${empty ? 'nothing so far' : `${readWords(read)}, the last ${ago(seconds(lastNew))} ago`}`,
        ),
      );
    }
  };

  let first = true;
  try {
    for (;;) {
      const moved = first ? await readAll(source, history) : await source.poll(history);
      first = false;
      if (moved) lastNew = performance.now();
      const over = await tell();
      show();
      if (!signal.aborted) {
        if (over) return 'broken';
        if (source.ended?.() === true) return 'ended';
        if (idle !== undefined && seconds(lastNew) >= idle) return 'idle';
        const milliseconds = interval * PER_SECOND;
        await (source.wait?.(milliseconds, signal) ??
          sleep(milliseconds, undefined, { signal }).catch(() => undefined));
      }
      if (!signal.aborted) continue;
      if (signal.reason !== 'stopped') return 'interrupted';
      // What was written until the end counts, also behind a look that it interrupted.
      await source.poll(history);
      await tell();
      return 'stopped';
    }
  } finally {
    block?.clear();
  }
}

// --- helpers ---

const PER_SECOND = 1_000;
/** A log that says nothing for longer looks like a process that hangs. */
const HEARTBEAT = pace(600);
/** Seconds between two drawings: faster is only flicker. */
const REDRAWN = pace(0.1);
/** Taller, the block pushes everything else off the screen. */
const MOST_ROWS = 24;
/** Names of files that appear at once; more are counted. */
const MOST_FILES = 5;

/** Whether there was anything. */
async function readAll(source: LogSource, history: History): Promise<boolean> {
  await source.readAll(history);
  return history.points() + history.samples() > 0;
}

function fileLines(files: LogSource['files']): string[] {
  const more = files.length - MOST_FILES;
  return [
    ...files.slice(0, MOST_FILES).map(({ path, kind }) => harmless(`+ ${path} (${kind})`)),
    ...(more > 0 ? [`+ ${plural(more, 'more file')}`] : []),
  ];
}

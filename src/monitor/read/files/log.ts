// What a reading of logs is: its files, those that were passed over, and how it goes on.
import type { LogSink } from '../../series.ts';
import type { LogKind } from './detect.ts';

export interface LogFile {
  /** As the user would name it from where the command was started. */
  readonly path: string;
  /** The run that its points and samples belong to. */
  readonly run: string;
  readonly kind: LogKind;
}

/** A file that looks like a log and is not read. */
export interface PassedOver {
  readonly path: string;
  /** As a sentence that names the file. */
  readonly why: string;
}

/** Bytes read so far and bytes that there are, of all files. */
export interface Progress {
  readonly read: number;
  readonly bytes: number;
  /** The file that is being read. */
  readonly path: string;
}

/** One reading. All calls get the same sink: readers keep its series. */
export interface LogSource {
  /** Grows where `poll` finds new ones. In the order in which they are read. */
  readonly files: readonly LogFile[];
  readonly passedOver: readonly PassedOver[];
  /** All that is there now. `progress` is called about ten times per second. */
  readAll(sink: LogSink, progress?: (progress: Progress) => void): Promise<void>;
  /** What is new since then, in known files and in new ones; whether there was anything. */
  poll(sink: LogSink): Promise<boolean>;
  /** Of a source that knows when more has come: until then, its end, the signal, or so many milliseconds. */
  wait?(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Nothing more can come. Absent: nobody can know that. */
  ended?(): boolean;
  /** No file is touched after this; a reading under way ends at its next piece. */
  close(): void;
}

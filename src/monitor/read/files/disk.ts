// What the readers ask of a disk. files.ts has the real one.
import type { RandomAccess } from '../parquet-thread.ts';
import type { Fill } from './window.ts';

/** A file that may be a log. */
export interface Found {
  /** As the user would name it. */
  readonly path: string;
  /** Where links lead: the same for the same file. */
  readonly real: string;
  /** The path of the user that it was found by. */
  readonly top: string;
  /** The user named it, or a glob did. */
  readonly named: boolean;
}

/** What changes where a file changes. */
export interface State {
  readonly size: number;
  /** In milliseconds. */
  readonly modified: number;
  /** Another one: another file was put in its place. */
  readonly inode: number;
}

export interface OpenFile {
  readonly fill: Fill;
  readonly random: RandomAccess;
  close(): void;
}

/** All paths here are `real` ones. What cannot be done is thrown. */
export interface Disk {
  /** Files at or below a path of the user that may be logs. What cannot be looked into is left out. */
  search(path: string): readonly Found[];
  state(real: string): State;
  /** The first bytes, unpacked. */
  head(real: string, packed: boolean): Uint8Array;
  open(real: string): OpenFile;
  /** A gzip file, from its beginning. */
  unpack(real: string): Omit<OpenFile, 'random'>;
}

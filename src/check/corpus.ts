// Saved failures: one JSON file a case, written atomically, run first next time, removed when they hold again.
export interface SavedCase {
  readonly id: string;
  readonly property: string;
  readonly given: unknown;
  readonly sentence: string;
  readonly trainer: string;
  readonly command: string;
  readonly seed: number;
  readonly path?: string;
  /** Request lines, hello first. */
  readonly lines: readonly string[];
  readonly version: string;
}

export interface Corpus {
  readonly folder: string;
  saved(property?: string): readonly SavedCase[];
  save(saved: SavedCase): void;
  remove(id: string): void;
}

/** What one trainer's history is asked: the bugs that it had, and the properties that fail while they are there. */
export interface History {
  /** Name of the ready-made adapter that drives a clone. */
  readonly adapter: string;
  /** `owner/name` on GitHub; its clone is a folder called `name`. */
  readonly repository: string;
  /** Of the repository, those that the adapter reads. */
  readonly folders: readonly string[];
  /** Oldest first, as git abbreviates them. */
  readonly commits: readonly string[];
  readonly bugs: readonly Bug[];
}

export interface Bug {
  readonly what: string;
  /** The commits that have it, as known from reading them. */
  readonly in: readonly string[];
  /** Ids, each of which is red where the bug is there and not where it is mended. */
  readonly properties: readonly string[];
  /** Variables that the adapter needs to ask for it: a mode of the trainer. */
  readonly settings?: Readonly<Record<string, string>>;
}

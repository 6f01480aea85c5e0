// Which run a file belongs to. As in TensorBoard, a folder of event files is a run, and so is each folder below it:
// `add_scalars` writes a folder per line, named after it. A table or JSON lines of metrics are a run each. Rollouts are
// written beside the metrics of their run, and are put to it.
import { basename, dirname } from 'node:path';
import type { LogKind } from './detect.ts';

/** What is known of a file when its run is asked for. */
export interface Place {
  /** As the user would name it. */
  readonly path: string;
  readonly kind: LogKind;
  /** It holds rollouts. */
  readonly samples: boolean;
}

/** The run of a file of metrics. */
export function runOfMetrics({ path, kind }: Place): string {
  switch (kind) {
    case 'TensorBoard':
    case 'W&B':
      return dirname(path);
    case 'trainer_state.json': {
      // Under another name it was copied out of its folder, maybe beside those of other runs.
      if (basename(path) !== 'trainer_state.json') return path;
      const folder = dirname(path);
      return checkpointOf(path) === undefined ? folder : dirname(folder);
    }
    default:
      return path;
  }
}

/** The number of the checkpoint that a trainer_state.json lies in; undefined where it lies in none. */
export function checkpointOf(path: string): number | undefined {
  const number = /^checkpoint-(\d+)$/.exec(basename(dirname(path)))?.[1];
  return number === undefined ? undefined : Number(number);
}

/**
 * The run of a file of rollouts: the only run of metrics in its folder or below, else of the folder above it, and so on up
 * to where the user pointed. Where there are several, nobody knows whose they are, and their folder is a run of its own.
 * @param top path that the user gave
 * @param metrics files of metrics, with their runs
 */
export function runOfSamples(
  path: string,
  top: string,
  metrics: readonly { readonly path: string; readonly run: string }[],
): string {
  const own = dirname(path);
  for (let folder = own; ; folder = dirname(folder)) {
    const runs = new Set(metrics.filter((file) => isBelow(file.path, folder)).map(({ run }) => run));
    const [only] = runs;
    if (runs.size === 1 && only !== undefined) return only;
    if (runs.size > 1 || folder === top || folder === '.' || folder === dirname(folder)) return own;
  }
}

/** Whether `path` lies in the folder or deeper; both as the user would name them. */
export function isBelow(path: string, folder: string): boolean {
  return folder === '.' ? !path.startsWith('/') && !path.startsWith('..') : path.startsWith(`${folder}/`);
}

/** Numbers in names as numbers, so that `2.jsonl` is before `10.jsonl` and event files are in order of their time. */
export function inOrder(left: string, right: string): number {
  return COLLATOR.compare(left, right) || (left < right ? -1 : left > right ? 1 : 0);
}

const COLLATOR = new Intl.Collator('en', { numeric: true });

/** A glob with `*`, `**`, `?` and `{a,b}` as a regular expression over a path. */
export function globPattern(glob: string): RegExp {
  let depth = 0;
  const source = glob.replaceAll(/\*\*\/?|[*?{},]|[^\w\s/]/g, (mark) => {
    if (mark === '**/') return '(?:[^/]+/)*';
    if (mark === '**') return '.*';
    if (mark === '*') return '[^/]*';
    if (mark === '?') return '[^/]';
    if (mark === '{') {
      depth += 1;
      return '(?:';
    }
    if (mark === '}' && depth > 0) {
      depth -= 1;
      return ')';
    }
    if (mark === ',' && depth > 0) return '|';
    return `\\${mark}`;
  });
  return new RegExp(`^${source}${')'.repeat(depth)}$`);
}

/**
 * Why a file need not be read, as a sentence, empty where that goes without saying; undefined: it is read.
 * trainer_state.json repeats what its run logged elsewhere, and each checkpoint what the earlier ones hold.
 */
export function needless(
  file: Place & { readonly run: string; readonly named: boolean },
  metrics: readonly (Place & { readonly run: string })[],
): string | undefined {
  if (file.kind !== 'trainer_state.json' || file.named) return undefined;
  const logged = metrics.find(
    ({ path, kind }) => (kind === 'TensorBoard' || kind === 'W&B') && isBelow(path, file.run),
  );
  if (logged !== undefined)
    return `${file.path} is not read, since ${dirname(logged.path)} holds the same run with more of it; to read it, name it.`;
  const own = checkpointOf(file.path);
  const later = metrics.find(
    ({ path, kind, run }) =>
      kind === 'trainer_state.json' &&
      run === file.run &&
      (checkpointOf(path) ?? -1) > (own ?? Number.POSITIVE_INFINITY),
  );
  return later === undefined ? undefined : '';
}

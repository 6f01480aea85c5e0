// Rollout files among the logs that have the log-probabilities of engine and trainer: a rule judges some rows of them
// (properties/monitor/samples/sides.ts), and `lossproof gap` shows the tokens of all.
import { resolve } from 'node:path';
import { rolloutsWithBoth } from '../../gap/read/sides.ts';
import type { LogFile } from '../../monitor/read/files/log.ts';
import { readEnd } from '../../outside/file.ts';
import { parsePython } from '../../outside/json.ts';
import { quoted } from '../../report/failure/reproduce.ts';
import type { Context } from '../context.ts';

/** A sentence; undefined where no file has both sides. */
export function gapNote(files: readonly LogFile[], context: Pick<Context, 'cwd'>): string | undefined {
  const both = files
    .filter(({ path }) => path.endsWith('.jsonl'))
    .slice(-MOST_FILES)
    .filter(({ path }) => endsWithBoth(resolve(context.cwd, path)))
    .map(({ path }) => path);
  const [first, ...others] = both;
  if (first === undefined) return undefined;
  const more = others.length === 0 ? 'has' : `and ${others.length} more have`;
  return `${first} ${more} the log-probabilities of engine and trainer: npx lossproof gap ${both.slice(0, MOST_SHOWN).map(quoted).join(' ')} shows where they differ.`;
}

// --- helpers ---

/** The last ones: a run may have thousands. */
const MOST_FILES = 20;
const MOST_SHOWN = 3;
/** A row of a long completion has some 100 KB. */
const MOST_BYTES = 2 ** 20;

/** Files that are written to end with a line that may be cut off. */
function endsWithBoth(path: string): boolean {
  const line = readEnd(path, MOST_BYTES).trimEnd().split('\n').at(-1) ?? '';
  const parsed = parsePython(line);
  return 'ok' in parsed && rolloutsWithBoth(parsed.ok, path).length > 0;
}

// `lossproof __complete WORDS...`, which the scripts of the shells ask: the candidates, one a line. It loads the table and
// nothing of the program, and says nothing of what goes wrong: nobody wants an error between two words.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readJson } from '../../outside/file.ts';
import { isJsonObject } from '../../protocol/result.ts';
import { answerTo, type Place } from './candidates.ts';
import type { Table } from './table.ts';

/** Written by `npm run build`. */
const TABLE = fileURLToPath(new URL('./table.json', import.meta.url));

export function complete(words: readonly string[]): void {
  // A shell that has seen enough closes the pipe.
  process.stdout.on('error', () => {});
  process.stdout.write(`${completionLines(words, process.cwd()).join('\n')}\n`);
  // HOLDS of exit.ts, which is not imported: it knows verdicts.
  process.exitCode = 0;
}

/** The first line is what the shell finishes beside the candidates; they follow, a tab before what each is. */
export function completionLines(words: readonly string[], cwd: string, table = TABLE): string[] {
  try {
    const read = readJson(table);
    if ('complaint' in read) return [':files'];
    const { candidates, also } = answerTo(words, read.ok as Table, placeAt(cwd));
    return [
      `:${also}`,
      ...candidates.filter(({ word }) => isPlain(word)).map(({ word, says }) => `${word}\t${says}`),
    ];
  } catch {
    return [':files'];
  }
}

// --- helpers ---

const CASES = join('.lossproof', 'cases');
const CONFIG = 'lossproof.config';

/** What a configuration calls a trainer is shown by a terminal before anybody has read it. */
function isPlain(word: string): boolean {
  return !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(word);
}

function placeAt(cwd: string): Place {
  return {
    trainers: (named) => trainersOf(named === undefined ? nearestConfig(cwd) : resolve(cwd, named)),
    cases: () => casesIn(join(cwd, CASES)),
  };
}

function nearestConfig(folder: string): string | undefined {
  const name = ['ts', 'js', 'mjs', 'json'].find((ending) => existsSync(join(folder, `${CONFIG}.${ending}`)));
  if (name !== undefined) return join(folder, `${CONFIG}.${name}`);
  return dirname(folder) === folder ? undefined : nearestConfig(dirname(folder));
}

/** Only of JSON: TAB runs nobody's code. */
function trainersOf(file: string | undefined): readonly string[] {
  const read = file?.endsWith('.json') ? readJson(file) : undefined;
  if (read === undefined || 'complaint' in read || !isJsonObject(read.ok)) return [];
  const { trainers } = read.ok;
  return isJsonObject(trainers) ? Object.keys(trainers) : [];
}

/** Of the one trainer, and of each of several in a folder of its own. */
function casesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const names = entry.isDirectory() ? readdirSync(join(folder, entry.name)) : [entry.name];
    return names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
  });
}

// What `lossproof` alone says of the folder that it is typed in: which of its files a command takes, the command with their
// names filled in. Names and the beginnings of files are looked at; nothing is run.
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { quoted } from '../../report/failure/reproduce.ts';
import { harmless } from '../../report/text/visible.ts';
import { CONFIG_NAMES } from '../config/config.ts';
import type { Words } from '../help/words.ts';

/** At most one for each kind of file, the nearest to a verdict first. */
export function commandsAtHand(folder: string): Words['examples'] {
  const files = filesIn(folder);
  const beginnings = new Map<string, string>();
  const beginningOf = (file: string): string => {
    const text = beginnings.get(file) ?? readBeginning(join(folder, file));
    beginnings.set(file, text);
    return text;
  };
  return KINDS.flatMap(({ name, holds, command, why }) => {
    const [found, ...more] = files.filter(
      (file) => name.test(file) && (holds === undefined || holds(beginningOf(file))),
    );
    return found === undefined
      ? []
      : [{ command: `npx lossproof ${command(quoted(found))}`, does: `${found} ${why}${alsoWords(more)}` }];
  });
}

export const looksLikeScript = (file: string): boolean => isScript(readBeginning(file));

// --- helpers ---

/** Other files of the kind, so that one script of several is not taken for the only one that was seen. */
function alsoWords(files: readonly string[]): string {
  if (files.length === 0) return '';
  const left = files.length - MOST_NAMED;
  const named = files.slice(0, left === 1 ? files.length : MOST_NAMED).map(harmless);
  return `; also ${named.join(', ')}${left > 1 ? ` and ${left} more` : ''}`;
}

const MOST_NAMED = 2;

interface Kind {
  readonly name: RegExp;
  /** Of the first characters; absent: the name is enough. */
  readonly holds?: (text: string) => boolean;
  readonly command: (file: string) => string;
  readonly why: string;
}

const PYTHON = /\.py$/;

// Of files that nobody vouches for: no expression below may take longer than its text is long.
const ADAPTER = /^[ \t]*(from lossproof import|import lossproof\b)/m;
const TRAINS = /\.backward\(|Trainer\(/;
const LIBRARY = /^[ \t]*(import|from) (torch|transformers|trl|lightning|accelerate|unsloth|deepspeed)\b/m;
const LOSS = /^ *def \w{0,40}(loss|advantage|logp|kl|mask|collat)\w{0,40}\(/im;

function isScript(text: string): boolean {
  return LIBRARY.test(text) && TRAINS.test(text) && !ADAPTER.test(text);
}

const KINDS: readonly Kind[] = [
  {
    name: new RegExp(`^(${CONFIG_NAMES.map((each) => each.replaceAll('.', '\\.')).join('|')})$`),
    command: () => 'check',
    why: 'names a trainer',
  },
  {
    name: PYTHON,
    holds: (text) => ADAPTER.test(text) && /\bserve\(/.test(text),
    command: (file) => `check -- python ${file}`,
    why: 'is an adapter',
  },
  {
    name: PYTHON,
    holds: isScript,
    command: (file) => `trace -- python ${file}`,
    why: 'looks like a training script',
  },
  {
    name: PYTHON,
    holds: (text) => LOSS.test(text) && !ADAPTER.test(text),
    command: (file) => `discover ${file}`,
    why: 'has functions that can be checked',
  },
  {
    name: /(^|[/\\])(trainer_state\.json|events\.out\.tfevents\.[^/\\]*)$/,
    command: (file) => `monitor ${file}`,
    why: 'is the log of a training',
  },
  {
    name: /\.jsonl$/,
    holds: (text) => /^\s*\{[^\n]*"(messages|conversations|prompt|instruction|text|input_ids)"/.test(text),
    command: (file) => `view ${file} --tokenizer MODEL_FOLDER`,
    why: 'looks like a data set',
  },
  {
    name: /\.parquet$/,
    command: (file) => `view ${file} --tokenizer MODEL_FOLDER`,
    why: 'looks like a data set',
  },
];

/** Not the project's own. */
const FOREIGN = /^(node_modules|site-packages|__pycache__|venv|env|dist|build)$|^\./;
const MOST_FILES = 500;
const MOST_BYTES = 64 * 1024;

/** In the folder and in the folders in it, by name; what lies nearer first. */
function filesIn(folder: string): readonly string[] {
  const here = entriesOf(folder);
  const below = here
    .filter((entry) => entry.isDirectory() && !FOREIGN.test(entry.name))
    .flatMap(({ name }) =>
      entriesOf(join(folder, name)).map((entry) => ({ entry, path: join(name, entry.name) })),
    );
  return [...here.map((entry) => ({ entry, path: entry.name })), ...below]
    .filter(({ entry }) => entry.isFile())
    .map(({ path }) => path)
    .slice(0, MOST_FILES);
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

function readBeginning(path: string): string {
  try {
    const file = openSync(path, 'r');
    const bytes = Buffer.alloc(MOST_BYTES);
    try {
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, MOST_BYTES, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

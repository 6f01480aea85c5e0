// Seconds that `view` takes for a data set of 1,000 conversations, from typing to the answer, in a process of its own;
// tokens a second; and the ratio to tokenising the same text and nothing else, which no view can do without.
//   npm run build && node dist/scripts/bench/view.js [FOLDER]     default: the real Qwen2.5 tokenizer
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadTokenizer } from '../../src/tokenizers/load.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { writerOf } from '../../src/view/writer.ts';

const CONVERSATIONS = 1_000;
const ROUNDS = 5;
const SEED = 7;
/** Different words; of each text about two hundred are used. */
const WORDS = 20_000;
/** Made-up words take two tokens each: with these, a conversation has about 250. */
const QUESTION_WORDS = 16;
const ANSWER_WORDS = 32;
const MOST_TURNS = 3;

const realFolder = join(PACKAGE_ROOT, 'node_modules', '@lenml', 'tokenizer-qwen2_5', 'models');
const folder = process.argv[2] ?? realFolder;
const cli = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const MODULUS = 2 ** 31;

/** Numbers from 0 to 1, the same on every machine. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & (MODULUS - 1);
    return state / MODULUS;
  };
}

/** Words are used as languages use them: few of them often, most of them hardly ever. */
function conversations(): { role: string; content: string }[][] {
  const next = numbers(SEED);
  const below = (most: number): number => Math.floor(next() * most);
  const syllables = ['an', 'ter', 'lo', 'mi', 'ka', 'ret', 'su', 'ing', 'ver', 'do', 'pla', 'en', 'ti', 'or'];
  const words = Array.from({ length: WORDS }, () =>
    Array.from({ length: 1 + below(4) }, () => syllables[below(syllables.length)]).join(''),
  );
  const text = (length: number): string =>
    Array.from({ length }, () => {
      const word = words[Math.floor(WORDS * next() ** 6)] ?? '';
      return below(12) === 0 ? `${word}.` : below(40) === 0 ? `${word}\n` : word;
    }).join(' ');
  return Array.from({ length: CONVERSATIONS }, () =>
    Array.from({ length: 1 + below(MOST_TURNS) }, () => [
      { role: 'user', content: text(QUESTION_WORDS) },
      { role: 'assistant', content: text(ANSWER_WORDS) },
    ]).flat(),
  );
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function seconds(work: () => void): number {
  const begin = performance.now();
  work();
  return (performance.now() - begin) / 1000;
}

const loaded = loadTokenizer(folder);
if ('problem' in loaded) throw new Error(loaded.problem);
const { tokenizer } = loaded;
const writer = writerOf(tokenizer, tokenizer.chatTemplate ?? '');
const rows = conversations();
const texts = rows.map((messages) => {
  const rendered = writer.render(messages);
  return 'text' in rendered ? rendered.text : '';
});
const scratch = mkdtempSync(join(tmpdir(), 'lossproof-view-'));
try {
  const data = join(scratch, 'data.jsonl');
  writeFileSync(data, rows.map((messages) => JSON.stringify({ messages })).join('\n'));
  const tokens = texts.reduce((sum, text) => sum + tokenizer.encode(text).length, 0);
  const plain: number[] = [];
  const whole: number[] = [];
  const empty: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    plain.push(seconds(() => void texts.map((text) => tokenizer.encode(text))));
    whole.push(seconds(() => void spawnSync(process.execPath, [cli, 'view', data, '--tokenizer', folder])));
    empty.push(
      seconds(
        () => void execFileSync(process.execPath, [cli, 'view', '--ids', '1,2', '--tokenizer', folder]),
      ),
    );
  }
  const [all, start, bare] = [median(whole), median(empty), median(plain)];
  process.stdout.write(
    [
      `${rows.length.toLocaleString('en')} conversations, ${tokens.toLocaleString('en')} tokens, median of ${ROUNDS}`,
      `view              ${all.toFixed(2)} s, of which ${start.toFixed(2)} s to start and to read the tokenizer`,
      `tokens a second   ${Math.round(tokens / (all - start)).toLocaleString('en')} once started`,
      `beside tokenising ${((all - start) / bare).toFixed(1)} times the ${bare.toFixed(2)} s that the tokenizer alone takes for the same text`,
      '',
    ].join('\n'),
  );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

// Adversarial data sets through scripts that are right: none may be blamed. Each process of a script trains on several data
// sets, one behind the other in one file, for most of its time is spent on imports. Exit code 1 where any is blamed.
//   node dist/test/conformance/trace.js --sets 20                    every script, two processes at a time
//   node dist/test/conformance/trace.js --sets 4 --together 1 --only dpo --keep /tmp/traces
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { type DatasetForm, datasetOf } from '../../src/generators/rows/dataset/dataset.ts';
import type { PropertyResult, RunEvent } from '../../src/index.ts';
import { familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

const { values } = parseArgs({
  options: {
    sets: { type: 'string', default: '20' },
    /** The first seed. */
    from: { type: 'string', default: '1' },
    together: { type: 'string', default: '5' },
    rows: { type: 'string', default: '32' },
    only: { type: 'string', default: '' },
    /** Where the traces of what is blamed are left. */
    keep: { type: 'string' },
    jobs: { type: 'string', default: '2' },
  },
});

interface Script {
  readonly form: DatasetForm;
  readonly words: string;
  readonly options?: string;
  /** Roles that it cannot write: its own template, or its loop, has none. */
  readonly tools?: boolean;
  /** Tokens of the longest row, where its model has fewer positions than the others. */
  readonly most?: number;
}

const HF = 'python hf_trainer.py --data {data} --output {out}';
const SFT = 'python trl_sft.py --data {data} --output {out}';
const LOOP = 'python loop.py --steps 100000 --data {data}';
const RL = 'python trl_rl.py --data {data} --output {out}';
const GIVEN = '--dataset {data}';
/** A loop by hand brings no tokenizer of transformers that could be seen. */
const TOLD = `${GIVEN} --tokenizer {qwen}`;

const SCRIPTS: Readonly<Record<string, Script>> = {
  'sft chat': { form: 'chat', words: SFT, tools: true },
  'sft chat, given': { form: 'chat', words: SFT, options: GIVEN, tools: true },
  'sft chat, accumulated': { form: 'chat', words: `${SFT} --accumulate 2`, options: GIVEN },
  // Its rows have 64 tokens; what is cut off there would not be trained, and is rightly missed.
  'sft packing': { form: 'chat', words: `${SFT} --packing`, options: GIVEN, most: 60 },
  'sft pairs': { form: 'prompt-completion', words: SFT },
  'sft pairs, given': { form: 'prompt-completion', words: SFT, options: GIVEN },
  dpo: { form: 'preference', words: 'python trl_dpo.py --data {data} --output {out}' },
  'dpo, given': {
    form: 'preference',
    words: 'python trl_dpo.py --data {data} --output {out}',
    options: GIVEN,
  },
  'trainer chat': { form: 'chat', words: HF, tools: true },
  'trainer chat, given, accumulated': {
    form: 'chat',
    words: `${HF} --accumulate 2 --model absolute`,
    options: GIVEN,
  },
  'trainer llama3': { form: 'chat', words: `${HF} --family llama3`, options: GIVEN },
  'trainer bf16': { form: 'chat', words: `${HF} --bf16`, options: GIVEN },
  'loop chat': { form: 'chat', words: LOOP, options: TOLD, tools: true, most: 60 },
  'loop chat, left': {
    form: 'chat',
    words: `${LOOP} --model llama --pad left --no-positions`,
    options: TOLD,
  },
  'loop pairs': { form: 'prompt-completion', words: `${LOOP} --model llama`, options: TOLD },
  'loop pairs, chunked': {
    form: 'prompt-completion',
    words: `${LOOP} --chunked --accumulate 2`,
    most: 60,
    options: TOLD,
  },
  grpo: { form: 'prompt', words: `${RL} --beta 0.04` },
  'grpo, accumulated': { form: 'prompt', words: `${RL} --loss grpo --accumulate 2 --temperature 1` },
  rloo: { form: 'prompt', words: `${RL} --method rloo --temperature 1` },
  ddp: {
    form: 'chat',
    words: 'torchrun --nproc_per_node 2 ddp.py --steps 100000 --data {data}',
    options: GIVEN,
  },
};

const SCRIPT_FOLDER = join(PACKAGE_ROOT, 'test', 'torch', 'trace', 'scripts');
const PYTHON = process.env.LOSSPROOF_PYTHON ?? join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const BIN = dirname(PYTHON);
/** The tiny models have 256 positions; a stop token is added to a row. */
const MOST_TOKENS = 240;

interface Outcome {
  readonly script: string;
  readonly seeds: readonly number[];
  readonly trained: number;
  readonly seconds: number;
  /** Properties that hold. */
  readonly held: number;
  /** A sentence each. */
  readonly blamed: readonly string[];
}

function rowsOf(
  { form, words, tools = false, most = MOST_TOKENS }: Script,
  seed: number,
): readonly unknown[] {
  const family = words.includes('--family llama3') ? 'llama3' : 'qwen';
  const loaded = loadTokenizer(familyFolder(family));
  if ('problem' in loaded) throw new Error(loaded.problem);
  return datasetOf({
    form,
    seed,
    rows: Number(values.rows),
    mostTokens: most,
    tokenizer: loaded.tokenizer,
    system: true,
    tools,
    empty: true,
  }).rows;
}

async function run(name: string, script: Script, seeds: readonly number[]): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance '));
  const paths: Readonly<Record<string, string>> = {
    '{data}': join(folder, 'train.jsonl'),
    '{out}': join(folder, 'out'),
    '{qwen}': familyFolder('qwen'),
  };
  const filled = (text: string): string[] =>
    text.split(' ').flatMap((word) => (word === '' ? [] : [paths[word] ?? word]));
  mkdirSync(join(folder, 'out'));
  const rows = seeds.flatMap((seed) => rowsOf(script, seed));
  writeFileSync(join(folder, 'train.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const events = join(folder, 'events.ndjson');
  const own = ['--keep-going', '--out', join(folder, 'trace'), '--events', events];
  const begun = performance.now();
  const { exitCode, all } = await execa(
    process.execPath,
    [
      join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.js'),
      ...['trace', ...own, ...filled(script.options ?? ''), '--', ...filled(script.words)],
    ],
    {
      cwd: SCRIPT_FOLDER,
      env: { OMP_NUM_THREADS: '1', PYTHONDONTWRITEBYTECODE: '1', PATH: `${BIN}:${process.env.PATH ?? ''}` },
      reject: false,
      all: true,
      stdin: 'ignore',
    },
  );
  const seen = existsSync(events) ? eventsIn(events) : [];
  const results = seen.flatMap((event) => (event.type === 'property-end' ? [event.result] : []));
  const trained = seen.find((event) => event.type === 'run-start')?.cases ?? 0;
  const blamed = results.filter(isBlame).map(sentenceOf);
  // A script that is right ends by itself, with every row trained.
  if (exitCode !== 0 && blamed.length === 0) blamed.push(`exit code ${exitCode}: ${all.slice(-MOST_SHOWN)}`);
  if (trained === 0) blamed.push('no row was trained');
  const kept = values.keep !== undefined && blamed.length > 0;
  if (kept) blamed.push(`left in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  return {
    script: name,
    seeds,
    trained,
    seconds: (performance.now() - begun) / 1000,
    held: results.filter(({ verdict }) => verdict === 'pass').length,
    blamed,
  };
}

const MOST_SHOWN = 2000;
const INNOCENT = ['pass', 'unsupported', 'skipped'];
const isBlame = ({ level, verdict }: PropertyResult): boolean =>
  level !== 'may' && !INNOCENT.includes(verdict);
const sentenceOf = ({ id, failure, reason }: PropertyResult): string =>
  `${id}: ${failure?.finding?.sentence ?? reason ?? ''}`;

function eventsIn(file: string): readonly RunEvent[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line): RunEvent => JSON.parse(line));
}

const seeds = Array.from({ length: Number(values.sets) }, (_, at) => Number(values.from) + at);
const together = Number(values.together);
const queue = Object.entries(SCRIPTS)
  .filter(([name, { words }]) => name.includes(values.only) || words.includes(values.only))
  .flatMap(([name, script]) =>
    seeds.flatMap((_, at) =>
      at % together === 0 ? [{ name, script, seeds: seeds.slice(at, at + together) }] : [],
    ),
  );
const outcomes: Outcome[] = [];

async function work(): Promise<void> {
  for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
    const outcome = await run(job.name, job.script, job.seeds);
    outcomes.push(outcome);
    const { script, trained, held, blamed, seconds } = outcome;
    const which = `seeds ${job.seeds[0]} to ${job.seeds.at(-1)}`;
    console.log(
      `${blamed.length === 0 ? '✓' : '✗'} ${script}, ${which}: ${trained} rows, ${held} properties hold, ${seconds.toFixed(0)} s`,
    );
    for (const sentence of blamed) console.log(`    ${sentence}`);
  }
}

await Promise.all(Array.from({ length: Number(values.jobs) }, work));
console.log('\n| script | data sets | rows trained | blamed |\n|---|---|---|---|');
for (const name of Object.keys(SCRIPTS)) {
  const own = outcomes.filter(({ script }) => script === name);
  if (own.length === 0) continue;
  const sum = (count: (outcome: Outcome) => number): number =>
    own.reduce((total, each) => total + count(each), 0);
  console.log(
    `| ${name} | ${sum((each) => each.seeds.length)} | ${sum((each) => each.trained)} | ${sum((each) => each.blamed.length)} |`,
  );
}
process.exitCode = outcomes.some(({ blamed }) => blamed.length > 0) ? 1 : 0;

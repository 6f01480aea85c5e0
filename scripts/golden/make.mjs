// Makes golden/papers, golden/torch and golden/transformers again, from the sources that are not ours.
//   npm run golden:make                      writes golden/
//   npm run golden:make -- --out FOLDER      writes FOLDER/papers and so on
//   npm run golden:make -- papers            these alone; papers needs no torch
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true });
const root = fileURLToPath(new URL('../..', import.meta.url));
const python = process.env.LOSSPROOF_PYTHON ?? `${root}.venv/bin/python`;
const interpreters = { papers: 'python3', torch: python, transformers: python };

for (const name of positionals.length > 0 ? positionals : Object.keys(interpreters)) {
  const interpreter = interpreters[name];
  if (interpreter === undefined)
    end(`there is no golden ${name}: it is one of ${Object.keys(interpreters).join(', ')}`);
  if (interpreter === python && !existsSync(python))
    end(
      `there is no Python at ${python}; run \`npm run setup:trainers\`, or set LOSSPROOF_PYTHON to one that has transformers`,
    );
  const words = [
    '-B',
    `${root}scripts/golden/from_${name}.py`,
    ...(values.out === undefined ? [] : ['--out', values.out]),
  ];
  const { status } = spawnSync(interpreter, words, {
    stdio: 'inherit',
    // One thread adds in one order.
    env: { ...process.env, OMP_NUM_THREADS: '1', HF_HUB_OFFLINE: '1' },
  });
  if (status !== 0) end(`golden ${name} was not made`);
}

function end(sentence) {
  console.error(sentence);
  process.exit(1);
}

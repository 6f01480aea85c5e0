// Adversarial data sets on real scripts: one that is right is not blamed, and one that is wrong in conversations of several
// turns only is shrunk to one of these. `npm run trace:patience` does the first for every script.
import { expect, test } from 'vitest';
import { datasetOf } from '../../../../src/generators/rows/dataset/dataset.ts';
import { tokenizerOf } from './closed.ts';
import { blamedIn, traced } from './run.ts';

const rows = datasetOf({
  form: 'chat',
  rows: 32,
  seed: 1,
  mostTokens: 240,
  tokenizer: tokenizerOf('qwen'),
  system: true,
  tools: true,
  empty: true,
}).rows;
const HF = 'hf_trainer.py --data {data} --output {out}';

test('a script that is right is not blamed for any of its rows', async () => {
  const run = await traced({ words: HF, data: rows, options: '--dataset {data} --keep-going' });
  expect(blamedIn(run), run.out).toEqual([]);
  expect(run.ledger.rows.length).toBeGreaterThanOrEqual(rows.length);
  expect(run.exitCode, run.out).toBe(0);
});

test('a prompt that is trained in conversations of several turns only is shrunk to one of them', async () => {
  const run = await traced({
    words: `${HF} --fault prompt-of-several-turns`,
    data: rows,
    options: '--dataset {data} --keep-going --only tokenize/prompt-is-not-trained --shrink 2',
  });
  expect(run.exitCode, run.out).toBe(1);
  const said = run.out.replaceAll(/\s+/g, '');
  expect(said).toContain('1of32rowsfailsso');
  // The row stands below the name of its file.
  const row = /smallest\.jsonl(\{"messages".*?\]\})/.exec(said)?.[1] ?? '';
  expect(row.split('"role":"user"').length - 1, run.out).toBeGreaterThan(1);
});

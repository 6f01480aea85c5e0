// A saved case that a newer declaration rules out blames nobody: it is said, kept, and not judged.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { openCorpus } from '../../../src/check/saved/corpus.ts';
import { type Args, type Hello, objectTrainer, run } from '../../../src/index.ts';
import { PLAIN } from '../../../src/report/text/paint.ts';
import { rowLines } from '../../../src/report/text/table.ts';

/** Knows one stop token, whatever it is told: rows that end with another are masked as if they went on. */
const mask = ({ sequences, prompt_width: width, attention_mask: real }: Args<'mask'>) => ({
  completion_mask: sequences.map((row, b) => {
    const stop = row.indexOf(2, width);
    return row.map((_, t) => Number(real[b]?.[t] === 1 && t >= width && (stop < 0 || t <= stop)));
  }),
});

const trainerOf = (tokens?: NonNullable<Hello['tokens']>) =>
  objectTrainer({
    hello: { protocol: 1, name: 'one stop', ops: { mask: {} }, ...(tokens === undefined ? {} : { tokens }) },
    ops: { mask },
  });

const GIVEN = { prompts: [[5]], completions: [[3]], pad: 0, stops: [2, 3], after: [[7]] };

test('a saved case with the ids of nobody is no longer one', async () => {
  const corpus = openCorpus(join(mkdtempSync(join(tmpdir(), 'outdated-')), 'cases'));
  const property = 'mask/prompt-is-never-trained';
  corpus.save({
    id: 'abc123',
    property,
    given: GIVEN,
    sentence: '',
    trainer: 'one stop',
    command: '',
    seed: 1,
    lines: [],
    version: '0',
  });
  const chosen = properties.filter(({ id }) => id === property);
  const judge = async (tokens?: NonNullable<Hello['tokens']>) => {
    const options = { tokenizer: undefined, properties: chosen, corpus, seed: 1, cases: 5, command: 'test' };
    const [result] = await run({ ...options, trainer: trainerOf(tokens) }, () => undefined);
    if (result === undefined) throw new Error('no result');
    return result;
  };
  const declared = await judge({ vocab_size: 40, pad_token_id: 0, eos_token_ids: [2] });
  expect(declared).toMatchObject({
    verdict: 'pass',
    fixed: [],
    outdated: ['abc123: it stops with 2, 3, and hello.tokens.eos_token_ids is 2'],
  });
  const lines = rowLines(declared, { ids: [property], paint: PLAIN, width: 100 });
  expect(lines.join(' ')).toContain('not judged abc123: it stops with 2, 3');
  expect(corpus.saved(property).map(({ id }) => id)).toEqual(['abc123']);
  // As long as nothing rules it out, it is judged.
  expect(await judge()).not.toHaveProperty('outdated');
});

test('nor is one with two questions, where the trainer takes one', async () => {
  const corpus = openCorpus(join(mkdtempSync(join(tmpdir(), 'outdated-')), 'cases'));
  const property = 'tokenize/labels-are-the-tokens';
  const content = (role: 'user' | 'assistant') => ({ role, content: 'a' });
  const messages = [content('user'), content('assistant'), content('user'), content('assistant')];
  corpus.save({
    id: 'def456',
    property,
    given: { messages, template: null },
    sentence: '',
    trainer: 'one question',
    command: '',
    seed: 1,
    lines: [],
    version: '0',
  });
  const judge = async (turns?: 1) => {
    const trainer = objectTrainer({
      hello: {
        protocol: 1,
        name: 'one question',
        ops: { tokenize: { route: ['sft'], ...(turns === undefined ? {} : { turns }) } },
      },
      ops: {
        tokenize: ({ messages: sent }) => ({
          input_ids: [5, 6],
          labels: sent.length > 3 ? [6, 6] : [5, 6],
        }),
      },
    });
    const chosen = properties.filter(({ id }) => id === property);
    const options = { tokenizer: undefined, properties: chosen, corpus, seed: 1, cases: 5, command: 'test' };
    const [result] = await run({ ...options, trainer }, () => undefined);
    return result;
  };
  expect(await judge()).toMatchObject({ verdict: 'fail' });
  expect(await judge(1)).toMatchObject({
    verdict: 'pass',
    outdated: expect.arrayContaining(['def456: it has 2 questions, and an op declares turns 1']),
  });
});

// The default backend and the template engine against Python: the `tokenizers` library and transformers' Jinja2.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conversation } from '../../src/generators/text/conversation.ts';
import { templateSource } from '../../src/generators/text/template.ts';
import { anyContent } from '../../src/generators/text/text.ts';
import { generationSpans, renderChat, templateTokens } from '../../src/tokenizers/template.ts';
import type { Tokenizer } from '../../src/tokenizers/tokenizer.ts';
import type { Message } from '../../src/vocabulary.ts';
import { loaded, tokenizerFolders } from '../tokenizers/folders.ts';
import { MARKED_TEMPLATES } from '../tokenizers/marked-templates.ts';

const SEED = 20260102;
/** Of each tokenizer; loading the two real ones takes longer than comparing. */
const TEXTS = 300;
const TEMPLATES = 150;

const root = fileURLToPath(new URL('../..', import.meta.url));
const fileOf = (folder: string): string => `${folder}/tokenizer.json`;
const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] =>
  fc.sample(arbitrary, { seed: SEED, numRuns: count });

describe.each(Object.entries(tokenizerFolders))('the tokenizer %s', (_, folder) => {
  const tokenizer = loaded(folder);
  const texts = sample(anyContent(tokenizer), TEXTS);

  it('gives the ids that Python gives, with and without special tokens added', () => {
    for (const addSpecialTokens of [false, true]) {
      const request = { op: 'encode', file: fileOf(folder), texts, add_special_tokens: addSpecialTokens };
      const [python] = ask<number[][]>([request]);
      const here = texts.map((text) => tokenizer.encode(text, { addSpecialTokens }));
      expect(differing(texts, here, python)).toEqual([]);
    }
  });

  it('decodes whole texts, halves of characters and random ids as Python does', () => {
    const random = fc.array(fc.nat({ max: tokenizer.vocabSize - 1 }), { maxLength: 12 });
    const rows = [...texts.flatMap((text) => halves(tokenizer.encode(text))), ...sample(random, TEXTS)];
    const [python] = ask<string[]>([{ op: 'decode', file: fileOf(folder), rows }]);
    expect(differing(rows, rows.map(tokenizer.decode), python)).toEqual([]);
  });
});

describe('chat templates', () => {
  const dialogues = [
    ...sample(conversation({ endsWith: 'assistant' }), TEMPLATES),
    ...sample(conversation({ endsWith: 'user' }), TEMPLATES),
  ];

  it('of the grammar render as in Python, and refuse what Python refuses', () => {
    const sources = sample(templateSource(), dialogues.length);
    compare(dialogues.map((messages, at) => ({ template: sources[at]?.source ?? '', messages })));
  });

  it('of the families and the real tokenizers render as in Python', () => {
    for (const folder of Object.values(tokenizerFolders)) {
      const tokenizer = loaded(folder);
      compare(
        dialogues.map((messages) => ({ template: tokenizer.chatTemplate ?? '', messages })),
        tokenizer,
      );
    }
  });

  it('with generation tags mark the same text as in Python', () => {
    for (const template of Object.values(MARKED_TEMPLATES))
      compare(dialogues.map((messages) => ({ template, messages })));
  });

  it('strip white space as Python strips it', () => {
    const odd = ['\u0085x\u0085', '\ufeffx', '\u001cx\u001f', '\n x \n', '', '\u200bx\u00a0', 'xx-x'];
    const template =
      "{% for m in messages %}[{{ m.content | trim }}][{{ m.content.strip('\\n') }}][{{ m.content.lstrip() }}]" +
      "[{{ m['content'].rstrip('x ') }}][{{ (m.content | trim).strip('x') }}][{{ nothing | trim }}]{% endfor %}";
    compare(odd.map((content) => ({ template, messages: [{ role: 'user', content }] })));
  });
});

// --- helpers ---

interface Case {
  readonly template: string;
  readonly messages: readonly Message[];
}
type Answer = { readonly refused: string } | { readonly text: string; readonly pieces: readonly string[] };

/** Renders every case twice, with and without generation prompt, on both sides. */
function compare(given: readonly Case[], tokenizer?: Tokenizer): void {
  const tokens = tokenizer === undefined ? { bosToken: '<s>', eosToken: '</s>' } : templateTokens(tokenizer);
  const cases = given.flatMap((one) => [true, false].map((prompt) => ({ ...one, prompt })));
  const request = {
    op: 'render',
    cases: cases.map(({ template, messages, prompt }) => ({
      template,
      messages,
      add_generation_prompt: prompt,
      tokens: {
        ...(tokens.bosToken === undefined ? {} : { bos_token: tokens.bosToken }),
        ...(tokens.eosToken === undefined ? {} : { eos_token: tokens.eosToken }),
      },
    })),
  };
  const [python] = ask<Answer[]>([request]);
  const here = cases.map(({ template, messages, prompt }) => {
    const options = { messages, addGenerationPrompt: prompt, ...tokens };
    const spans = generationSpans(template, options);
    const rendered = renderChat(template, options);
    if ('problem' in spans || 'problem' in rendered) return { refused: true };
    expect(rendered.text).toBe(spans.text);
    return { text: spans.text, pieces: spans.spans.map(([start, end]) => spans.text.slice(start, end)) };
  });
  const there = python?.map((answer) => ('refused' in answer ? { refused: true } : answer));
  expect(differing(cases, here, there)).toEqual([]);
}

/** The inputs on which the two sides differ, few enough to read. */
function differing<Input>(
  inputs: readonly Input[],
  here: readonly unknown[],
  python: readonly unknown[] = [],
) {
  const shown = 3;
  return inputs
    .map((input, at) => ({ input, here: here[at], python: python[at] }))
    .filter((row) => JSON.stringify(row.here) !== JSON.stringify(row.python))
    .slice(0, shown);
}

/** A row, and the row cut in the middle: there characters break. */
function halves(ids: number[]): number[][] {
  return [ids, ids.slice(0, Math.ceil(ids.length / 2)), ids.slice(Math.floor(ids.length / 2))];
}

function ask<T>(requests: readonly unknown[]): T[] {
  const python = process.env.LOSSPROOF_PYTHON ?? `${root}.venv/bin/python`;
  if (!existsSync(python))
    throw new Error(
      `There is no Python at ${python}, so nothing can be compared with its tokenizers. ` +
        'Run `npm run setup:trainers`, or set LOSSPROOF_PYTHON to a Python that has transformers.',
    );
  const ran = spawnSync(python, [`${root}scripts/tokenizers/oracle.py`], {
    input: JSON.stringify(requests),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024, // the answers take about 1 MB
    env: { ...process.env, HF_HUB_OFFLINE: '1', TRANSFORMERS_VERBOSITY: 'error' },
  });
  if (ran.status !== 0)
    throw new Error(`${python} ended with ${ran.status ?? ran.signal ?? ran.error}:\n${ran.stderr}`);
  return JSON.parse(ran.stdout) as T[];
}

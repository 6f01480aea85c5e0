// `gap --model` with a Python that answers for transformers: which side is wrong, what is left out, what Ctrl-C keeps.
// test/torch/gap has a real model.
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rolloutsWith } from '../../gap/model.ts';
import { bf16 } from '../../gap/noise.ts';
import { shifted } from '../../gap/planted.ts';
import { makeWorld } from '../world.ts';

/** Answers with the values of exact.json, which stand under the ids of prompt and completion. */
const PYTHON = `#!/usr/bin/env python3
import json, os, sys
os.chdir(os.path.dirname(os.path.abspath(__file__)))
exact = json.load(open("exact.json"))
for line in sys.stdin:
    asked = json.loads(line)
    if os.path.exists("dies") and "rows" in asked:
        sys.exit("Segmentation fault of a kernel")
    if "load" in asked:
        answer = {"dtype": "float32", "device": "cpu", "vocab": 120}
    else:
        answer = {"logprobs": [exact[json.dumps(row)] for row in asked["rows"]]}
        with open("asked", "a") as file:
            file.write("%d\\n" % len(asked["rows"]))
    print(json.dumps(answer), flush=True)
`;

type World = ReturnType<typeof makeWorld>;

/** The engine is right, the trainer is shifted by one. */
function prepared(
  options?: Parameters<typeof makeWorld>[1],
  change: (row: number) => object = () => ({}),
): World {
  const world = makeWorld(undefined, options);
  const right = rolloutsWith({ engine: bf16 }, { seed: 71, rows: 60, length: 30 });
  const wrong = right.map((row) => shifted(1)({ sampling: [...row.sampling], trainer: [...row.trainer] }));
  const lines = right.map(({ prompt, ids, sampling }, at) =>
    JSON.stringify({
      prompt_ids: prompt,
      completion_ids: ids,
      rollout_log_probs: [...sampling],
      old_log_probs: wrong[at]?.trainer,
      ...change(at),
    }),
  );
  world.write('rollouts.jsonl', lines.join('\n'));
  const spaced = (ids: readonly number[]): string => `[${ids.join(', ')}]`;
  const exact = right.map(({ prompt, ids, trainer }) => [
    `[${spaced(prompt)}, ${spaced(ids)}]`,
    [...trainer],
  ]);
  world.write('exact.json', JSON.stringify(Object.fromEntries(exact)));
  world.write('python', PYTHON);
  chmodSync(join(world.folder, 'python'), 0o755);
  mkdirSync(join(world.folder, 'model'));
  world.write('model/config.json', '{}');
  return world;
}
const gap = (world: World, ...words: readonly string[]): Promise<number> =>
  world.run('gap', 'rollouts.jsonl', '--model', 'model', '--python', './python', ...words);

describe('gap --model', () => {
  test('says which side departs, on the terminal, as JSON and on the page', async () => {
    const world = prepared({ columns: 80 });
    expect(await gap(world, '--html', 'gap.html')).toBe(1);
    expect(world.out()).toContain('The trainer departs from the model; the engine agrees with it.');
    expect(world.out()).toMatch(/✗ trainer: shift {2}\d+ % of its gap to the model/);
    expect(
      world
        .out()
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([]);
    const page = readFileSync(join(world.folder, 'gap.html'), 'utf8');
    expect(page).toContain('<b>The trainer departs from the model; the engine agrees with it.</b>');
    const other = prepared();
    expect(await gap(other, '--json')).toBe(1);
    expect(JSON.parse(other.out())).toMatchObject({
      model: {
        folder: 'model',
        rows: 60,
        rounding_rms: null,
        left: null,
        engine: { verdict: 'noise', causes: [] },
        trainer: { verdict: 'cause' },
      },
    });
  });

  test.each([
    ['trainer', { old_log_probs: undefined }, 0, 'The engine agrees with the model, within rounding.'],
    ['engine', { rollout_log_probs: undefined }, 1, 'The trainer departs from the model.'],
  ] as const)('compares files without the %s with the model', async (missing, lost, code, words) => {
    const world = prepared({ columns: 80 }, () => lost);
    expect(await gap(world)).toBe(code);
    const out = world.out().replaceAll(/\s+/g, ' ');
    expect(out).toContain(`${words} The files have no log-probabilities of the ${missing}.`);
    expect(out).toContain(`${missing === 'engine' ? 'sampling' : 'trainer'} model in float32`);
    expect(out.match(/✗ shift \d/g) ?? []).toHaveLength(code);
    const other = prepared(undefined, () => lost);
    expect(await gap(other, '--json', '--html', 'gap.html')).toBe(code);
    expect(JSON.parse(other.out())).toMatchObject({ missing, model: { [missing]: null } });
    expect(readFileSync(join(other.folder, 'gap.html'), 'utf8')).toContain(words);
  });

  test('without a model, files with one side need the other', async () => {
    const world = prepared(undefined, () => ({ old_log_probs: undefined }));
    expect(await world.run('gap', 'rollouts.jsonl')).toBe(2);
    expect(world.err()).toMatch(/no log-probabilities of the trainer to compare with.*--model/);
  });

  test('leaves out rows without prompt ids, or with ids outside the vocabulary, and says so', async () => {
    const world = prepared(undefined, (at) => (at < 2 ? { prompt_ids: at === 0 ? [] : [500] } : {}));
    expect(await gap(world)).toBe(1);
    expect(world.out().replaceAll(/\s+/g, ' ')).toContain(
      '2 rows not scored: at most 400 are, with prompt ids',
    );
  });

  test('rows of another vocabulary are one sentence', async () => {
    const world = prepared(undefined, () => ({ prompt_ids: [500], old_log_probs: undefined }));
    expect(await gap(world)).toBe(2);
    expect(world.err().trim()).toBe(
      'lossproof: --model: every row has ids beyond the 120 of model: it has another vocabulary than the rows',
    );
  });

  test('a process that ends is a sentence with its last line, and no verdict of noise', async () => {
    const world = prepared();
    world.write('dies', '');
    expect(await gap(world)).toBe(1);
    expect(world.err()).toContain('--model: model could not be scored: its process ended (exit code 1)');
    expect(world.err()).toContain('Segmentation fault of a kernel');
    expect(world.out()).toContain('✗ shift');
  });

  test('Ctrl-C keeps what was scored', async () => {
    const world = prepared({
      onWrite: (both, { interrupt }) => {
        // The progress line, after requests of 8 rows each.
        if (both.includes('40 of 60 rows') && !both.includes('^C')) interrupt();
      },
      isTty: true,
    });
    expect(await gap(world)).toBe(130);
    expect(world.out()).toContain('The trainer departs from the model');
    expect(world.out().replaceAll(/\s+/g, ' ')).toMatch(/float32 on cpu: (?:40|48) rows/);
  });

  test.each<[string, readonly string[], string]>([
    ['no model folder', ['--model', 'none'], '--model: none is no model folder: it has no config.json'],
    ['a Python without a model', ['--python', 'python3'], '--python belongs to --model'],
    ['a Python that is not there', ['--model', 'model', '--python', './no'], './no could not be started'],
  ])('%s is one sentence', async (_, words, sentence) => {
    const world = prepared();
    await world.run('gap', 'rollouts.jsonl', ...words);
    expect(world.err().replace(world.folder, '.')).toContain(sentence);
  });
});

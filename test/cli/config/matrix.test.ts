// What `trainers`, `matrix` and `exclude` mean: which combinations there are, what each is called and what it is held to.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Config } from '../../../src/cli/config/define.ts';
import { type Combinations, combinationsOf } from '../../../src/cli/config/matrix.ts';

const GRPO = { trainer: 'python grpo.py --side {padding_side}' };
const SFT = { adapter: 'trl-sft' };
const SIDES = ['left', 'right'];

function made(config: Config): Combinations {
  const combinations = combinationsOf(config);
  if (combinations === undefined || 'problem' in combinations) expect.fail(JSON.stringify(combinations));
  return combinations;
}

const names = (config: Config): readonly string[] => made(config).all.map(({ name }) => name);
const problem = (config: Config): unknown => {
  const combinations = combinationsOf(config);
  return combinations !== undefined && 'problem' in combinations ? combinations.problem : combinations;
};

test('a configuration of one trainer has no combinations', () => {
  expect(combinationsOf({})).toBeUndefined();
  expect(combinationsOf({ trainer: 'python a.py', tokenizer: 'x' })).toBeUndefined();
});

test('trainers hold their own keys over those that they share', () => {
  const { all, notes } = made({
    trainer: 'python shared.py',
    tokenizer: 'models/shared',
    cases: 5,
    corpus: false,
    semantics: { kl_estimator: 'k1', advantage_ddof: 1 },
    trainers: {
      grpo: { trainer: ['python', 'grpo.py'], semantics: { kl_estimator: 'k3' } },
      sft: { adapter: 'trl-sft', tokenizer: 'models/own' },
      plain: { level: 'may' },
    },
  });
  const shared = { cases: 5, corpus: false };
  expect(all.map(({ name, config }) => [name, config])).toEqual([
    [
      'grpo',
      {
        ...shared,
        trainer: ['python', 'grpo.py'],
        tokenizer: 'models/shared',
        semantics: { kl_estimator: 'k3', advantage_ddof: 1 },
      },
    ],
    [
      'sft',
      {
        ...shared,
        adapter: 'trl-sft',
        tokenizer: 'models/own',
        semantics: { kl_estimator: 'k1', advantage_ddof: 1 },
      },
    ],
    [
      'plain',
      {
        ...shared,
        trainer: ['python', 'shared.py'],
        tokenizer: 'models/shared',
        level: 'may',
        semantics: { kl_estimator: 'k1', advantage_ddof: 1 },
      },
    ],
  ]);
  expect(notes).toEqual([]);
});

test('every combination of every trainer, named by its values', () => {
  const config: Config = {
    trainers: { grpo: GRPO, other: { trainer: 'run {padding_side} {tokenizer}' } },
    matrix: { tokenizer: ['models/a', 'models/b/'], padding_side: SIDES },
  };
  expect(names(config)).toEqual([
    'grpo · tokenizer a · padding_side left',
    'grpo · tokenizer a · padding_side right',
    'grpo · tokenizer b · padding_side left',
    'grpo · tokenizer b · padding_side right',
    'other · tokenizer a · padding_side left',
    'other · tokenizer a · padding_side right',
    'other · tokenizer b · padding_side left',
    'other · tokenizer b · padding_side right',
  ]);
  expect(made(config).all.at(-1)?.config).toEqual({
    tokenizer: 'models/b/',
    trainer: ['run', 'right', 'models/b/'],
  });
});

test('a matrix without trainers varies the one at the top', () => {
  expect(names({ ...GRPO, matrix: { padding_side: SIDES } })).toEqual([
    'padding_side left',
    'padding_side right',
  ]);
  // What the environment names is varied by keys, too.
  expect(made({ matrix: { cases: [1, 2] } }).all.map(({ config }) => config)).toEqual([
    { cases: 1 },
    { cases: 2 },
  ]);
});

test('keys are set, semantics one by one', () => {
  const { all } = made({
    ...SFT,
    semantics: { advantage_ddof: 1 },
    matrix: { level: ['must', 'may'], 'semantics.kl_estimator': ['k1'], only: ['mask'], python: ['/py'] },
  });
  expect(all.map(({ name, config }) => [name, config])).toEqual([
    [
      'level must · semantics.kl_estimator k1 · only mask · python py',
      {
        adapter: 'trl-sft',
        python: '/py',
        level: 'must',
        only: 'mask',
        semantics: { advantage_ddof: 1, kl_estimator: 'k1' },
      },
    ],
    [
      'level may · semantics.kl_estimator k1 · only mask · python py',
      {
        adapter: 'trl-sft',
        python: '/py',
        level: 'may',
        only: 'mask',
        semantics: { advantage_ddof: 1, kl_estimator: 'k1' },
      },
    ],
  ]);
});

test('values are filled in word by word and once, in any text; other braces are left', () => {
  const { all } = made({
    trainer: `python "my adapter.py" --x={x}{y} '{"json": {z}}' {x}`,
    known: 'known-{y}.json',
    only: ['mask/{y}', 'kl'],
    python: '{x}',
    matrix: { x: [`a b; rm -rf "{y}" $(id)`], y: [5, true] },
  });
  const x = `a b; rm -rf "{y}" $(id)`;
  expect(all.map(({ config }) => config)).toEqual(
    ['5', 'true'].map((y) => ({
      trainer: ['python', 'my adapter.py', `--x=${x}${y}`, '{"json": {z}}', x],
      known: `known-${y}.json`,
      only: [`mask/${y}`, 'kl'],
      python: x,
    })),
  );
});

test('a trainer in this process is varied by keys', () => {
  const trainer = { hello: {}, ops: {} } as unknown as NonNullable<Config['trainer']>;
  const { all } = made({ trainer, matrix: { tokenizer: ['a', 'b'] } });
  expect(all.every(({ config }) => config.trainer === trainer)).toBe(true);
});

test('a trainer is varied by what it uses, and the rest is said', () => {
  const config: Config = {
    trainers: { grpo: GRPO, sft: { ...SFT, tokenizer: 'own' }, plain: { trainer: 'python plain.py' } },
    matrix: { tokenizer: ['a', 'b'], padding_side: SIDES, python: ['p', 'q'] },
  };
  const { all, notes } = made(config);
  expect(all.map(({ name }) => name)).toEqual([
    'grpo · tokenizer a · padding_side left',
    'grpo · tokenizer a · padding_side right',
    'grpo · tokenizer b · padding_side left',
    'grpo · tokenizer b · padding_side right',
    'sft · python p',
    'sft · python q',
    'plain · tokenizer a',
    'plain · tokenizer b',
  ]);
  expect(notes).toEqual([
    'grpo is not varied by python: only an adapter is started with it',
    'grpo is checked with each tokenizer, but its command has no {tokenizer} that names it',
    'sft is not varied by tokenizer: it has its own',
    'sft is not varied by padding_side: {padding_side} stands nowhere in its description',
    'plain is not varied by padding_side: {padding_side} stands nowhere in its description',
    'plain is not varied by python: only an adapter is started with it',
    'plain is checked with each tokenizer, but its command has no {tokenizer} that names it',
  ]);
});

test('exclusions leave out what they fit, by as many values as they name', () => {
  const config: Config = {
    trainers: { grpo: GRPO, sft: SFT },
    matrix: { tokenizer: ['models/a', 'models/b'], padding_side: SIDES },
  };
  const exclude = [{ trainer: 'grpo', padding_side: 'left' }, { tokenizer: 'models/b' }];
  expect(names({ ...config, exclude })).toEqual([
    'grpo · tokenizer a · padding_side right',
    'sft · tokenizer a',
  ]);
});

describe('is refused in one sentence', () => {
  const matrix = { padding_side: SIDES };
  test.each<readonly [Config, unknown]>([
    [
      { trainer: 'a', matrix },
      'matrix.padding_side is used nowhere: write {padding_side} into the command of a trainer, or name a key, such as tokenizer or level',
    ],
    [
      { trainer: 'a', matrix: { tokeniser: ['a'] } },
      'matrix.tokeniser is used nowhere, did you mean "tokenizer"?',
    ],
    [
      { trainer: 'a', matrix: { trainer: ['b'] } },
      'matrix.trainer cannot be: several trainers are named in `trainers`',
    ],
    [
      { trainer: 'a', matrix: { python: ['b'] } },
      'matrix.python changes nothing: only an adapter is started with it',
    ],
    [
      { trainers: { a: { trainer: 'a', cases: 1 } }, matrix: { cases: [2] } },
      'matrix.cases changes nothing: every trainer has a cases of its own',
    ],
    [{ trainer: '{x}', matrix: { x: [1, '1'] } }, 'matrix.x has "1" twice'],
    [
      { trainer: 'a', matrix: { level: ['must', 'always'] } },
      'level always: "level" must be "must", "should" or "may"',
    ],
    [{ trainer: 'a', matrix: { cases: ['many'] } }, 'cases many: "cases" must be a whole number above 0'],
    [
      { trainer: 'a', matrix: { 'semantics.kl_estimater': ['k1'] } },
      'semantics.kl_estimater k1: semantics has an unknown semantics key "kl_estimater", did you mean "kl_estimator"?',
    ],
    [
      { trainer: 'a', matrix: { adapter: ['trl-sft'] } },
      'adapter trl-sft: name a trainer or an adapter, not both',
    ],
    [
      { trainers: { a: { trainer: `python "a` } } },
      `trainers.a: the command "python \\"a" has a quote that is not closed`,
    ],
    [
      { trainer: 'a', exclude: [{ x: 1 }] },
      'exclude leaves combinations out, and neither trainers nor a matrix makes any',
    ],
    [
      { ...GRPO, matrix, exclude: [{ padding_sid: 'left' }] },
      'exclude[0] names "padding_sid", which is not of the matrix, did you mean "padding_side"?',
    ],
    [
      { ...GRPO, matrix, exclude: [{ constructor: 'left' } as never] },
      'exclude[0] names "constructor", which is not of the matrix',
    ],
    [
      { ...GRPO, matrix, exclude: [{ padding_side: 'left' }, { padding_side: 'lft' }] },
      'exclude[1] fits nothing: padding_side is never "lft", did you mean "left"?',
    ],
    [
      { trainers: { grpo: GRPO }, matrix, exclude: [{ trainer: 'grop' }] },
      'exclude[0] names the trainer "grop", which there is not, did you mean "grpo"?',
    ],
    [
      { ...GRPO, matrix, exclude: [{ trainer: 'grpo' }] },
      'exclude[0] names the trainer "grpo", which there is not',
    ],
    [
      { trainers: { grpo: GRPO, sft: SFT }, matrix, exclude: [{ trainer: 'sft', padding_side: 'left' }] },
      'exclude[0] fits no combination: not every trainer is varied by every name of the matrix',
    ],
    [
      { ...GRPO, matrix, exclude: [{ padding_side: 'left' }, { padding_side: 'right' }] },
      'exclude leaves nothing to run',
    ],
  ])('%j', (config, says) => {
    expect(problem(config)).toBe(says);
  });
});

test('there are as many combinations as the matrix says, each with another name and another configuration', () => {
  const value = fc.oneof(fc.integer(), fc.boolean(), fc.stringMatching(/^[a-z/{} ]{0,4}[a-z]$/));
  const values = fc.uniqueArray(value, { minLength: 1, maxLength: 4, selector: String });
  const matrices = fc.dictionary(fc.constantFrom('x', 'y', 'zz', 'a b'), values, { minKeys: 1 });
  fc.assert(
    fc.property(
      matrices,
      fc.uniqueArray(fc.constantFrom('p', 'q', 'r'), { minLength: 1 }),
      (matrix, trainers) => {
        const trainer = ['run', ...Object.keys(matrix).map((name) => `--x={${name}}`)];
        const { all, notes } = made({
          trainers: Object.fromEntries(trainers.map((name) => [name, { trainer }])),
          matrix,
        });
        const size = Object.values(matrix).reduce((product, { length }) => product * length, trainers.length);
        expect(all).toHaveLength(size);
        expect(new Set(all.map(({ name }) => name)).size).toBe(size);
        expect(new Set(all.map(({ config, trainer: of }) => JSON.stringify([of, config]))).size).toBe(size);
        for (const { values: held, config } of all)
          expect(config.trainer).toEqual(['run', ...Object.keys(matrix).map((name) => `--x=${held[name]}`)]);
        expect(notes).toEqual([]);
      },
    ),
  );
});

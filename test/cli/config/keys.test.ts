// The table of configuration keys, and the four that are made of it or must agree with it: types, parser, JSON Schema, page.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { configPage, exampleConfig, severalConfig } from '../../../scripts/docs/config-page.ts';
import { configSchema } from '../../../scripts/docs/config-schema.ts';
import { complaintAbout } from '../../../src/cli/config/complaint.ts';
import type { Config, MonitorConfig, TrainerConfig } from '../../../src/cli/config/define.ts';
import type { ConfigKey } from '../../../src/cli/config/key.ts';
import { CONFIG_KEYS } from '../../../src/cli/config/keys.ts';
import { MONITOR_KEYS } from '../../../src/cli/config/monitor-keys.ts';
import { TRAINER_KEYS } from '../../../src/cli/config/trainer-keys.ts';
import type { Rule } from '../../../src/protocol/rules.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';

const isByTheSchema = new Ajv().compile(JSON.parse(configSchema()));

/** What a table's rules let through. */
type LetThrough<Keys> = {
  readonly [K in keyof Keys]: Keys[K] extends { readonly rule: Rule<infer T> } ? T : never;
};
type Whole<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

test('the types are those of the rules', () => {
  expectTypeOf<LetThrough<typeof CONFIG_KEYS>>().toEqualTypeOf<Whole<Config>>();
  expectTypeOf<LetThrough<typeof TRAINER_KEYS>>().toEqualTypeOf<Whole<TrainerConfig>>();
  expectTypeOf<LetThrough<typeof MONITOR_KEYS>>().toEqualTypeOf<Whole<MonitorConfig>>();
});

test('the comments of the types are the descriptions of the table', () => {
  const source = readFileSync(join(PACKAGE_ROOT, 'src/cli/config/define.ts'), 'utf8');
  const commented = (name: string): Record<string, string> => {
    const [body = ''] =
      source.split(new RegExp(`interface ${name} (?:extends \\w+ )?\\{`))[1]?.split('\n}') ?? [];
    const keys = body.matchAll(/\/\*\* (.*?) \*\/\n {2}readonly ([$\w]+)\?:/g);
    return Object.fromEntries([...keys].map(([, text = '', key = '']) => [key, text]));
  };
  const described = (keys: Readonly<Record<string, ConfigKey>>): Record<string, string> =>
    Object.fromEntries(Object.entries(keys).map(([key, { description }]) => [key, description]));
  expect(commented('TrainerConfig')).toEqual(described(TRAINER_KEYS));
  expect({ ...commented('Config'), ...commented('TrainerConfig') }).toEqual(described(CONFIG_KEYS));
  expect(commented('MonitorConfig')).toEqual(described(MONITOR_KEYS));
});

test.each(
  Object.entries({ '': CONFIG_KEYS, 'monitor.': MONITOR_KEYS }).flatMap(([before, keys]) =>
    Object.entries<ConfigKey>(keys).map(([name, key]) => [before + name, key] as const),
  ),
)('%s: its example and its default are what it may be', (name, { rule, example, default: value }) => {
  expect(rule(example, name)).toBeUndefined();
  if (value !== undefined) expect(rule(value, name)).toBeUndefined();
});

test('the page shows a configuration that can be used, and the schema is the one in docs', () => {
  expect(complaintAbout(exampleConfig())).toBeUndefined();
  expect(complaintAbout(severalConfig())).toBeUndefined();
  const inDocs = (name: string): string => readFileSync(join(PACKAGE_ROOT, 'docs', name), 'utf8');
  expect(inDocs('config.schema.json')).toBe(configSchema());
  expect(inDocs('configuration.md')).toBe(configPage());
});

const GOOD: readonly unknown[] = [
  {},
  { $schema: './node_modules/lossproof/docs/config.schema.json', cases: 5 },
  { trainer: 'python3 adapter.py', level: 'may', only: 'mask/*' },
  { trainer: ['python3', 'my adapter.py'], only: ['mask/*', 'kl'], corpus: false },
  { trainer: { hello: {}, ops: {} } },
  { adapter: 'trl-sft', python: '.venv/bin/python', tokenizer: 'tok', tokenizerBackend: 'xenova' },
  { semantics: {} },
  { semantics: { kl_estimator: 'k3', kl_clamp: null, advantage_ddof: 0, whiten_mean: true } },
  { semantics: { kl_clamp: { k1: null, k2: [null, 20], k3: 10 } } },
  { opTimeout: 0.5, helloTimeout: 600, known: 'known.json' },
  { trainers: { grpo: { trainer: 'python grpo.py', semantics: { kl_estimator: 'k3' } }, sft: {} } },
  { adapter: 'trl-sft', matrix: { tokenizer: ['a', 'b'], seed: [1, 2.5], flag: [true] } },
  { matrix: { a: ['b'] }, exclude: [{ trainer: 'sft', a: 'b' }, { flag: false }] },
  { monitor: {} },
  { monitor: { paths: 'runs', rollouts: ['a', 'b'], set: { x: 1, y: 'z', w: false }, series: { a: 'kl' } } },
];

const BAD: readonly (readonly [unknown, string | RegExp])[] = [
  [[], 'the configuration must be an object (in a module: its default export)'],
  [null, 'the configuration must be an object (in a module: its default export)'],
  [{ tokeniser: 'x' }, 'unknown key "tokeniser", did you mean "tokenizer"?'],
  [{ $schema: 5 }, '"$schema" must be the address of a JSON Schema'],
  [{ cases: 0 }, '"cases" must be a whole number above 0'],
  [{ cases: 1.5 }, '"cases" must be a whole number above 0'],
  [{ cases: '5' }, '"cases" must be a whole number above 0'],
  [{ opTimeout: 0 }, '"opTimeout" must be seconds above 0, two million at most'],
  [{ opTimeout: 1e12 }, '"opTimeout" must be seconds above 0, two million at most'],
  [{ trainer: '' }, '"trainer" must be a command (text or list of words) or an object with hello and ops'],
  [{ trainer: [] }, '"trainer" must be a command (text or list of words) or an object with hello and ops'],
  [{ trainer: 'a', adapter: 'trl-sft' }, 'name a trainer or an adapter, not both'],
  [{ level: 'always' }, '"level" must be "must", "should" or "may"'],
  [{ only: [''] }, '"only" must be property ids or globs'],
  [{ corpus: 'yes' }, '"corpus" must be true or false'],
  [{ semantics: [] }, '"semantics" must be an object of semantics, as in PROTOCOL.md'],
  [
    { semantics: { kl_estimater: 'k3' } },
    'semantics has an unknown semantics key "kl_estimater", did you mean "kl_estimator"?',
  ],
  [{ semantics: { overlong: 'cut' } }, 'semantics.overlong is "cut", expected "truncate" or "drop"'],
  [{ trainers: {} }, '"trainers" must be an object of at least one trainer with a name'],
  [{ trainers: { '': {} } }, '"trainers" must be an object of at least one trainer with a name'],
  [{ trainers: { grpo: 'a' } }, '"trainers" must be an object of at least one trainer with a name'],
  [
    { trainers: { grpo: { trainr: 'a' } } },
    'unknown key "trainers.grpo.trainr", did you mean "trainers.grpo.trainer"?',
  ],
  [{ trainers: { grpo: { corpus: true } } }, /unknown key "trainers.grpo.corpus"/],
  [{ trainers: { grpo: { cases: 0 } } }, '"trainers.grpo.cases" must be a whole number above 0'],
  [
    { trainers: { grpo: { trainer: 'a', adapter: 'trl-sft' } } },
    'trainers.grpo: name a trainer or an adapter, not both',
  ],
  [{ matrix: {} }, 'matrix is an empty object'],
  [{ matrix: { a: [] } }, 'matrix.a is an empty list'],
  [{ matrix: { a: 'left' } }, 'matrix.a is "left", expected a list'],
  [{ matrix: { a: [''] } }, /^matrix\.a\[0\] is/],
  [
    { exclude: [] },
    '"exclude" must be a list of combinations, such as [{ "trainer": "sft", "padding_side": "left" }]',
  ],
  [{ exclude: [{}] }, /^"exclude" must be a list of combinations/],
  [{ monitor: 'runs' }, '"monitor" must be an object of settings for `monitor`'],
  [{ monitor: { presett: 'x' } }, 'unknown key "monitor.presett", did you mean "monitor.preset"?'],
  [{ monitor: { set: { a: [1] } } }, '"monitor.set" must be an object such as { "kl-spike.times": 30 }'],
  [{ monitor: { series: { a: 1 } } }, '"monitor.series" must be an object such as { "my_kl": "kl" }'],
];

describe('the parser and the schema agree', () => {
  test.each(GOOD.map((config) => [JSON.stringify(config), config]))('%s can be used', (_, config) => {
    expect(complaintAbout(config)).toBeUndefined();
    expect(isByTheSchema(config), JSON.stringify(isByTheSchema.errors)).toBe(true);
  });

  test.each(BAD.map(([config, says]) => [JSON.stringify(config), config, says]))(
    '%s is refused',
    (_, config, says) => {
      expect(complaintAbout(config)).toEqual(typeof says === 'string' ? says : expect.stringMatching(says));
      expect(isByTheSchema(config)).toBe(false);
    },
  );

  test('about whatever else stands in them', () => {
    const values = fc.oneof(
      fc.constantFrom<unknown>(
        '',
        'must',
        'k3',
        'huggingface',
        0,
        1,
        -1,
        0.5,
        1e300,
        true,
        false,
        null,
        [],
        {},
      ),
      fc.constantFrom<unknown>(['a'], [''], [1], { a: 1 }, { a: 'b' }, { a: null }, { hello: 1, ops: 2 }),
      fc.constantFrom<unknown>(
        { kl_estimator: 'k3' },
        { kl_estimator: 3 },
        { kl_clamp: null },
        { kl_clamp: { k3: 10 } },
        { kl_clamp: { k3: [10] } },
        { whiten_ddof: 2 },
      ),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const objectOf = (keys: object, value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
      fc.dictionary(fc.constantFrom(...Object.keys(keys), 'other'), value, { maxKeys: 3 });
    const examples = fc.constantFrom<unknown>(...Object.values(CONFIG_KEYS).map(({ example }) => example));
    const configs = objectOf(CONFIG_KEYS, fc.oneof(values, examples, objectOf(MONITOR_KEYS, values)));
    let [used, refused] = [0, 0];
    fc.assert(
      fc.property(configs, (config) => {
        const complaint = complaintAbout(config);
        if (complaint === undefined) used++;
        else refused++;
        expect(isByTheSchema(config), complaint ?? 'the parser takes it').toBe(complaint === undefined);
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(used, refused)).toBeGreaterThan(50);
  });
});

test('what is no JSON is refused in a sentence, too', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  for (const value of [() => 5, 5n, Symbol('x'), cyclic, Number.NaN, undefined])
    expect(complaintAbout({ cases: value })).toBe('"cases" must be a whole number above 0');
  expect(complaintAbout({ semantics: { kl_coef: () => 1 } })).toBe(
    'semantics.kl_coef is a function, expected a finite number',
  );
});

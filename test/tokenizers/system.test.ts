// Templates that refuse a system message: their trainers are seldom sent one.
import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { run, takenBy, type World } from '../../src/index.ts';
import { refusesSystem } from '../../src/tokenizers/call.ts';
import { familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';
import type { Tokenizer } from '../../src/tokenizers/tokenizer.ts';
import { refusingSystem } from '../conformance/text/plain-chats.ts';

/** Enough to tell a fifth of them. */
const CASES = 40;
const TURNS = "{% for message in messages %}{{ message['role'] + ': ' + message['content'] }}{% endfor %}";
/** As Gemma 2's begins. */
const REFUSING = `{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}${TURNS}`;

const loaded = loadTokenizer(familyFolder('gemma'));
if ('problem' in loaded) throw new Error(loaded.problem);
const { tokenizer } = loaded;
const withTemplate = (chatTemplate: string | undefined): Tokenizer => ({ ...tokenizer, chatTemplate });
const world = (of: Tokenizer | undefined): World =>
  ({ tokenizer: of, hello: { ops: { tokenize: { turns: 1 } } }, semantics: {} }) as unknown as World;

test.each<[string, string | undefined, boolean]>([
  ['refuses one', REFUSING, true],
  ['takes one', TURNS, false],
  [
    'fails on one here alone',
    `{% if messages[0]['role'] == 'system' %}{{ nothing.there() }}{% endif %}${TURNS}`,
    false,
  ],
  ['refuses everything', "{{ raise_exception('no') }}", false],
  ['is none', undefined, false],
])('a template that %s', (_, template, refuses) => {
  const of = withTemplate(template);
  expect(refusesSystem(of)).toBe(refuses);
  expect(takenBy(world(of), 'tokenize')).toEqual({ once: true, tools: false, rarelySystem: refuses });
});

test('the templates of the bundled families take one', () => {
  for (const family of ['qwen', 'llama3', 'gemma', 'mistral', 'phi', 'deepseek']) {
    const each = loadTokenizer(familyFolder(family));
    expect('tokenizer' in each && refusesSystem(each.tokenizer), family).toBe(false);
  }
  expect(takenBy(world(undefined))).toEqual({ once: false, tools: true, rarelySystem: false });
});

test('a trainer that refuses them as well is judged on most of its cases', async () => {
  const { trainer, tokenizer: own } = refusingSystem;
  const ofText = properties.filter(({ stage }) => stage === 'tokenize');
  const all = await run(
    { trainer, tokenizer: own, properties: ofText, command: 'test', seed: 1, cases: CASES },
    () => undefined,
  );
  const results = all.filter(({ verdict, cases }) => verdict !== 'unsupported' && cases >= CASES);
  expect(results.length).toBeGreaterThan(3);
  for (const { id, verdict, rejected } of results)
    expect({ id, verdict, most: rejected < CASES / 5 }).toEqual({ id, verdict: 'pass', most: true });
  // It is asked about them all the same.
  expect(results.reduce((sum, { rejected }) => sum + rejected, 0)).toBeGreaterThan(0);
});

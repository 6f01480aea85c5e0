// The golden set: every op is in it, every request is one that the protocol allows, and it is the same each time.
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { World } from '../../src/check/property.ts';
import { goldenCases, NOT_IN_THE_SET } from '../../src/golden/cases/index.ts';
import { requestComplaint } from '../../src/protocol/decode.ts';
import { OP_CAPABILITIES } from '../../src/protocol/hello.ts';
import { type Capability, OPS, type Op } from '../../src/protocol/message.ts';
import { families } from '../../src/tokenizers/families.ts';
import { familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';
import type { Tokens } from '../../src/vocabulary.ts';

/** Everything that a trainer could offer. */
const EVERYTHING: Required<
  Omit<
    Capability,
    | 'layout'
    | 'group_size'
    | 'kl'
    | 'after_stop'
    | 'tags'
    | 'turns'
    | 'message_flag'
    | 'overlong'
    | 'eos_token_ids'
    | 'always_enabled'
    | 'dtype'
  >
> &
  Capability = {
  route: ['sft', 'rl'],
  chat_template: true,
  tools: true,
  skip_special_tokens: true,
  padding_side: ['left', 'right'],
  pad_token_id: true,
  max_length: true,
  after_stop: 'any',
  max_tool_tokens: true,
  turn_rewards: true,
  unfinished: true,
  temperature: true,
  packed: true,
  families: ['llama', 'gpt2'],
  reference: true,
  starts_at_reference: true,
  kl_estimator: ['k1', 'k2', 'k3', 'abs'],
  process_rewards: true,
  groups_of_one: true,
  interleaved_groups: true,
  micro_batches: true,
  ranks: true,
  shards: true,
  entropy: true,
  sampling_logprobs: true,
  margins: true,
  knobs: { kl_coef: [0, 0.5] },
  processors: ['temperature', 'top_k', 'top_p', 'min_new_tokens', 'banned_sequences'],
  kinds: ['presence', 'frequency', 'repetition'],
  samples: [{ prompt: 'p', reference: '5', right: '5', wrong: '6' }],
  tool_specs: [{ name: 'add', parameters: { a: 'number', say: 'string', on: 'boolean' } }],
  orders: [['segments'], ['batch', 'segments']],
  losses: ['sft', 'rft'],
  modes: ['parallel', 'sequential', 'alternating'],
  optional_trainers: { rft: 'x' },
};

function worldWith(tokens: Tokens | undefined, family: string | undefined): World {
  const ops = Object.fromEntries(
    (Object.keys(OPS) as Op[]).map((op) => [
      op,
      Object.fromEntries(OP_CAPABILITIES[op].map((name) => [name, EVERYTHING[name]])),
    ]),
  );
  const loaded = family === undefined ? undefined : loadTokenizer(familyFolder(family));
  return {
    hello: { protocol: 1, name: 'x', ops, ...(tokens === undefined ? {} : { tokens }) },
    semantics: {},
    tokenizer: loaded !== undefined && 'tokenizer' in loaded ? loaded.tokenizer : undefined,
  };
}

const WORLDS: Readonly<Record<string, World>> = {
  'ids of our own': worldWith(undefined, undefined),
  'ids of our own beside a tokenizer': worldWith(undefined, 'qwen'),
  'padding with a stop': worldWith({ vocab_size: 40, pad_token_id: 2, eos_token_ids: [2] }, undefined),
  'padding of its own, several stops': worldWith(
    { vocab_size: 1_000, pad_token_id: 0, eos_token_ids: [1, 2] },
    'phi',
  ),
  'a vocabulary of a few ids': worldWith({ vocab_size: 8, pad_token_id: 0, eos_token_ids: [1] }, undefined),
};

test('has ids that are stage and name, each once', () => {
  const ids = goldenCases.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[a-z_]+\/[a-z0-9][a-z0-9.-]*$/);
});

test('asks every op at least twice, but those that run a checkpoint', () => {
  const counts = new Map<string, number>(Object.keys(OPS).map((op) => [op, 0]));
  for (const { op } of goldenCases) counts.set(op, (counts.get(op) ?? 0) + 1);
  const few = [...counts].filter(([, count]) => count < 2).map(([op]) => op);
  expect(few.sort()).toEqual([...NOT_IN_THE_SET].sort());
});

test('renders with the template of each family', () => {
  const templates = goldenCases.filter(({ id }) => id.startsWith('render/template-'));
  expect(templates.map(({ id }) => id.replace('render/template-', ''))).toEqual([...families]);
  expect(readdirSync(familyFolder('.')).sort()).toEqual([...families].sort());
});

describe.each(Object.entries(WORLDS))('with %s', (_, world) => {
  test('asks what the protocol allows, the same each time, in numbers of a few digits', () => {
    for (const { id, op, given } of goldenCases) {
      const args = given(world);
      if (typeof args === 'string') continue;
      expect(requestComplaint(op, args), id).toBeUndefined();
      expect(JSON.stringify(given(world)), id).toBe(JSON.stringify(args));
      for (const number of JSON.stringify(args).match(/-?\d+\.\d+/g) ?? [])
        expect(number.length, id).toBeLessThan(9);
    }
  });

  test('uses ids of the vocabulary only', () => {
    const { tokens } = world.hello;
    if (tokens === undefined) return;
    for (const { id, given } of goldenCases) {
      const args = given(world);
      if (typeof args === 'string' || id.startsWith('segments/unroll') || id.startsWith('advantages/'))
        continue;
      const ids = Object.entries(args).flatMap(([name, value]) =>
        /(^|_)ids$|^sequences$/.test(name) ? [value].flat(3) : [],
      );
      for (const each of ids) expect(each, id).toBeLessThan(tokens.vocab_size);
    }
  });
});

test('says why a trainer is not asked, and asks the bare one what needs nothing', () => {
  const bare: World = {
    ...worldWith(undefined, undefined),
    hello: { protocol: 1, name: 'x', ops: Object.fromEntries(Object.keys(OPS).map((op) => [op, {}])) },
  };
  const answers = goldenCases.map(({ given }) => given(bare));
  for (const why of answers) if (typeof why === 'string') expect(why).toMatch(/[^.]$/);
  expect(answers.filter((each) => typeof each !== 'string').length).toBeGreaterThan(60);
});

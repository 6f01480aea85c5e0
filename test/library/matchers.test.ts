// The matcher as a user writes it: what passes, what fails both ways, and what it says.
import { describe, expect, test } from 'vitest';
import { defineProperty, fc, reference } from '../../properties/library.ts';
import type { Holding } from '../../properties/matchers.ts';
import { negative, positive, quick } from './holding.ts';
import { faulty, k3, klTrainer, raising, refusing } from './trainers.ts';

const ours = defineProperty({
  id: 'house/kl-of-one-token',
  title: 'The KL of one token is k3',
  why: 'It is what the paper says.',
  ops: ['kl'],
  given: () => fc.double({ min: -3, max: 0, noNaN: true }),
  async check(subject, ref) {
    const row = [[0, -1]];
    const args = { logprobs: row, old_logprobs: row, ref_logprobs: [[0, ref]], completion_mask: [[0, 1]] };
    const { kl } = await subject.ask('kl', { ...args, prompt_width: 1 });
    const wrong = Math.abs((kl?.[0]?.[1] ?? Number.NaN) - reference.klOf(-1, ref, 'k3')) > 1e-9;
    return wrong ? { kind: 'k3', sentence: `The KL of ${ref} is not k3.` } : undefined;
  },
});

describe('a trainer that is right', () => {
  test.each<[string, Holding | undefined]>([
    ['a stage', 'kl'],
    ['a glob', 'kl/*'],
    ['an id', 'kl/equals-the-estimator'],
    ['names in one text and in a list', ['kl/equals-*, kl/*', 'kl']],
    ['a property of its own', ours],
    ['both together', ['kl', ours]],
    ['nothing, which is all', undefined],
  ])('holds %s', async (_, what) => {
    await expect(klTrainer()).toHold(what, quick);
  });

  test('is not caught, and the failure says what holds', async () => {
    const said = await negative(klTrainer(), ['kl/equals-the-estimator', ours]);
    expect(said).toBe(
      [
        'A faulty trainer was to be caught, and was not.',
        'kl-trainer · seed 7 · 10 cases per property · all hold',
        '  ✓ kl/equals-the-estimator',
        '  ✓ house/kl-of-one-token',
      ].join('\n'),
    );
  });

  test('may be what startTrainer answers, or the hello and ops of an object', async () => {
    const trainer = klTrainer();
    await expect({ trainer }).toHold('kl', quick);
    const hello = { protocol: 1, name: 'spec', ops: { kl: {} }, semantics: { kl_estimator: 'k3' } } as const;
    const kl = ({ logprobs, ref_logprobs, completion_mask }: { [key: string]: number[][] }) => ({
      kl: logprobs?.map((row, b) =>
        row.map((p, t) => (completion_mask?.[b]?.[t] ? k3((ref_logprobs?.[b]?.[t] ?? 0) - p) : 0)),
      ),
    });
    await expect({ hello, ops: { kl } }).toHold('kl', quick);
  });
});

describe('a trainer that is wrong', () => {
  test('fails with the block of the terminal and the seed, for each property that is broken', async () => {
    const said = await positive(faulty(), ['kl/equals-the-estimator', ours]);
    const [head] = said.split('\n');
    expect(head).toBe('kl-trainer · seed 7 · 10 cases per property · 2 of 2 do not hold');
    expect(said).toContain('\n✗ kl/equals-the-estimator  must · ');
    expect(said).toContain('\n✗ house/kl-of-one-token  must · ');
    // Nothing of it was saved, and the property of its own is none that the command line knows.
    expect(said).toContain('\n  Reproduce   LOSSPROOF_SEED=7 npx vitest run\n');
    expect(said).not.toContain('lossproof replay');
    expect(said).not.toContain('explain house/');
    expect(said).not.toContain('\u001b');
  });

  test('is caught with `not`, also where other properties hold', async () => {
    await expect(faulty()).not.toHold('kl', quick);
    await expect(faulty()).not.toHold(ours, quick);
  });

  test('is lived with where the failure is known, and the list must stay true', async () => {
    const known = { 'house/kl-of-one-token': { reason: 'upstream has it' } };
    await expect(faulty()).toHold(ours, { ...quick, known });
    expect(await positive(klTrainer(), ours, { ...quick, known })).toContain('stale');
    const strange = { 'kl/equals-the-estimatr': { reason: 'upstream has it' } };
    expect(await positive(klTrainer(), 'kl', { ...quick, known: strange })).toContain('did you mean');
    expect(await positive(klTrainer(), 'kl', { ...quick, known: 'no.json' })).toContain('no.json');
  });
});

describe('what says nothing fails both ways', () => {
  test.each<[string, unknown, Holding, string]>([
    ['an error of the trainer', raising(), 'kl', 'no reference model'],
    ['an op that is not offered', klTrainer(), 'mask/*', 'the adapter has no op `mask`'],
    ['one name of two', klTrainer(), ['kl', 'mask'], 'Nothing was checked of mask: unsupported'],
    ['a trainer that refuses every case', refusing(), 'kl', 'not today'],
    ['an unknown id', klTrainer(), 'kl/equals-the-estimatr', 'did you mean "kl/equals-the-estimator"?'],
    ['an unknown stage', klTrainer(), 'maks', 'did you mean "mask"?'],
    ['no name at all', klTrainer(), [], 'no property is named'],
    ['no trainer', undefined, 'kl', 'undefined is no trainer'],
    ['another object', { name: 'x' }, 'kl', 'an object with name is no trainer'],
    ['a promise', Promise.resolve(klTrainer()), 'kl', 'await it inside expect()'],
    ['an empty command', '', 'kl', 'the command is empty'],
    ['a command that does not start', 'no-such-program', 'kl', 'no-such-program did not start'],
    ['an object whose hello is wrong', { hello: { protocol: 2 }, ops: {} }, 'kl', 'hello is wrong'],
    [
      'a start that failed',
      { failure: { kind: 'start', message: 'It died.', advice: 'Look.' } },
      'kl',
      'It died.\nLook.',
    ],
  ])('%s', async (_, trainer, what, words) => {
    expect(await positive(trainer, what)).toContain(words);
    expect(await negative(trainer, what)).toContain(words);
  });
});

test('the seed of the environment is taken, and a wrong one is not another one', async () => {
  const before = process.env.LOSSPROOF_SEED;
  try {
    process.env.LOSSPROOF_SEED = '41';
    expect(await negative(klTrainer(), ours, { cases: 3 })).toContain('seed 41');
    process.env.LOSSPROOF_SEED = '4l';
    expect(await positive(klTrainer(), ours, { cases: 3 })).toContain('LOSSPROOF_SEED is "4l"');
  } finally {
    if (before === undefined) delete process.env.LOSSPROOF_SEED;
    else process.env.LOSSPROOF_SEED = before;
  }
});

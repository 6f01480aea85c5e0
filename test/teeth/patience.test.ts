// The other half of the proof: trainers that are right are left in peace. The three Python examples, and one trainer
// for each legal convention that they do not show.
import { describe, expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import {
  loadTokenizer,
  type PropertyResult,
  run,
  startTrainer,
  type Tokenizer,
  type Trainer,
} from '../../src/index.ts';
import { batches } from './legal/batches.ts';
import { numbers } from './legal/numbers.ts';
import { steps } from './legal/steps.ts';
import { texts } from './legal/texts.ts';

const SEEDS = [1, 2, 3, 4, 5];
const CASES = 60;

async function results(trainer: Trainer, tokenizer: Tokenizer | undefined): Promise<PropertyResult[]> {
  const all: PropertyResult[] = [];
  for (const seed of SEEDS) {
    all.push(
      ...(await run(
        { trainer, tokenizer, properties, seed, cases: CASES, command: 'test', shrinkMilliseconds: 5000 },
        () => undefined,
      )),
    );
  }
  return all;
}

/** Each alarm as one line with the case that raised it. */
const alarms = (all: readonly PropertyResult[]): string[] =>
  all
    .filter(({ verdict }) => verdict === 'fail' || verdict === 'error')
    .map(
      ({ id, verdict, failure }) =>
        `${id} ${verdict}s: ${failure?.finding?.sentence ?? failure?.trainerFailure?.message} ${JSON.stringify(failure?.given)}`,
    );
const passed = (all: readonly PropertyResult[]): string[] =>
  all.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id);

const seen = new Set<string>();

test.each(['left_padded', 'right_padded', 'stop_excluded'])('%s raises no alarm', async (name) => {
  const started = await startTrainer({ command: ['python3', '-m', `trainproof.examples.${name}`] });
  if ('failure' in started) throw new Error(started.failure.message);
  const { trainer } = started;
  try {
    const loaded = loadTokenizer(trainer.hello.tokenizer ?? '');
    if ('problem' in loaded) throw new Error(loaded.problem);
    const all = await results(trainer, loaded.tokenizer);
    expect(alarms(all)).toEqual([]);
    for (const id of passed(all)) seen.add(id);
  } finally {
    await trainer.stop();
  }
});

test('together the three examples pass every property', () => {
  expect(properties.map(({ id }) => id).filter((id) => !seen.has(id))).toEqual([]);
});

describe('legal conventions', () => {
  test.each([...batches, ...numbers, ...steps, ...texts])(
    'no alarm: $name',
    async ({ trainer, tokenizer }) => {
      const all = await results(trainer, tokenizer);
      expect(alarms(all)).toEqual([]);
      expect(passed(all).length, 'it is checked at all').toBeGreaterThan(0);
    },
  );
});

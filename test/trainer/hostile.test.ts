// Answers that are meant to take the harness down with them. Each costs its own request a failure and nothing else: the
// cases around it are answered, and nothing is held, thrown or waited for.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askAll, FOLDER, failureOf, kindsOf, MARK, startFailure, withTrainer } from './misbehave.ts';

const answering = (what: string): { command: readonly string[] } => ({
  command: ['python3', join(FOLDER, 'answers/hostile.py'), what],
});

const CANNOT_BE_READ = 'The trainer wrote JSON that cannot be read where an answer to advantages was due';

test.each([
  ['deep', 'garbage', `${CANNOT_BE_READ} (nested deeper than 200 levels): {"id":`],
  ['deep ok', 'garbage', `${CANNOT_BE_READ} (nested deeper than 200 levels): {"id":`],
  ['deep error', 'garbage', `${CANNOT_BE_READ} (nested deeper than 200 levels): {"id":`],
  ['many', 'garbage', `${CANNOT_BE_READ} (more than 262,144 lists and objects): {"id":`],
  ['long string and NaN', 'shape', 'exactly one of ok, reject, skip, error, it has error and x.'],
  ['long number and NaN', 'ok', ''],
  ['long space and NaN', 'ok', ''],
  ['rows of nothing', 'shape', 'shape [400000000, 0] of int64 has too many rows for having no values.'],
  ['negative', 'shape', 'has shape [-1,-1], expected a list of 1 to 3 lengths.'],
])('%s: %s of that answer, and the others are answered', async (what, kind, message) => {
  await withTrainer(
    'answers/hostile',
    async (trainer) => {
      const outcomes = await askAll(trainer, [1, MARK, 2]);
      expect(kindsOf(outcomes)).toEqual(['ok', kind, 'ok']);
      if (kind !== 'ok') expect(failureOf(outcomes[1]).message).toContain(message);
    },
    answering(what),
  );
});

test('of four million characters of an exception the beginning and the end are kept, and the number of the others', async () => {
  await withTrainer(
    'answers/hostile',
    async (trainer) => {
      const failure = failureOf((await askAll(trainer, [MARK]))[0]);
      expect(failure.message).toMatch(
        /^advantages raised: E{1000}\n… \(3,998,000 of 4,000,000 characters left out\)/,
      );
      expect(JSON.stringify(failure).length).toBeLessThan(50_000);
    },
    answering('long error'),
  );
});

test('a reason is one line, whatever it holds', async () => {
  await withTrainer(
    'answers/hostile',
    async (trainer) => {
      const [outcome] = await askAll(trainer, [MARK]);
      expect(outcome).toEqual({ kind: 'reject', why: 'no + fixed 123abc: all is well more' });
    },
    answering('lines in a reason'),
  );
});

test('a byte order mark before an answer is named, since nobody sees it', async () => {
  await withTrainer(
    'answers/hostile',
    async (trainer) => {
      const failure = failureOf((await askAll(trainer, [1]))[0]);
      expect(failure.message).toMatch(
        /^The trainer wrote a byte order mark \(U\+FEFF\) before the line .*: \{"id": 2/,
      );
      expect(failure.advice).toContain('utf-8-sig');
    },
    answering('mark'),
  );
});

test.each([
  ['hello deep', 'nested deeper than 200 levels'],
  ['hello vocabulary', 'hello.tokens.vocab_size is 9007199254740991, expected an integer of 1 to 16777216.'],
])('%s: it did not start, and nothing is left', async (what, message) => {
  expect((await startFailure('answers/hostile', answering(what))).message).toContain(message);
});

test('names of a hello are short, and on one line', async () => {
  await withTrainer(
    'answers/hostile',
    async ({ hello }) => {
      expect(hello.runtime).toBe('a b c');
      expect(hello.name).toBe(`${'N'.repeat(200)}… (5,000,000 characters)`);
    },
    answering('hello lines'),
  );
});

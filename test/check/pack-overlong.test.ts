// Examples longer than a packed row: each way to deal with them is right where it is declared, and costs nothing else.
import { expect, test } from 'vitest';
import { packOverlong } from '../../properties/rows/pack-overlong.ts';
import type { PropertyResult } from '../../src/check/events.ts';
import { type Args, type Ok, objectTrainer, type Property, reject, run } from '../../src/index.ts';
import { decodeHello } from '../../src/protocol/hello.ts';
import type { Capability } from '../../src/protocol/message.ts';

type Pack = (args: Args<'pack'>) => Ok<'pack'>;
type Rows = readonly (readonly number[])[];
/** Which rows an example becomes; of its ids, and of its labels. */
type Parts = (row: readonly number[], most: number, of: 'ids' | 'labels') => Rows;

const IGNORED = -100;

/** One part a row, padded on the right. */
const packed =
  (parts: Parts, also: (args: Args<'pack'>) => Args<'pack'> = (args) => args): Pack =>
  (given) => {
    const args = also(given);
    const { max_length: most, pad_token_id: pad } = args;
    const rows = (values: Rows, of: 'ids' | 'labels'): Rows =>
      values.flatMap((row) => (row.length > most ? parts(row, most, of) : [row]));
    const ids = rows(args.input_ids, 'ids');
    const labels = rows(args.labels, 'labels');
    const width = Math.max(...ids.map(({ length }) => length));
    const filled = (values: Rows, fill: number): Rows =>
      values.map((row) => [...row, ...Array.from({ length: width - row.length }, () => fill)]);
    return { input_ids: filled(ids, pad), labels: filled(labels, IGNORED) };
  };

const pieces =
  (step: (most: number) => number): Parts =>
  (row, most) =>
    Array.from({ length: Math.ceil(row.length / step(most)) }, (_, at) =>
      row.slice(at * step(most), at * step(most) + most),
    );
const all = pieces((most) => most);

/** Every row full, examples going on in the next one; what is left over is dropped. */
const streamed: Pack = ({ input_ids: ids, labels, max_length: most, pad_token_id: pad }) => {
  const cut = (values: Rows, fill: number): Rows => {
    const stream = values.flat();
    const whole = Math.max(1, Math.floor(stream.length / most));
    const padded = [...stream, ...Array.from({ length: most }, () => fill)];
    return Array.from({ length: whole }, (_, at) => padded.slice(at * most, (at + 1) * most));
  };
  return { input_ids: cut(ids, pad), labels: cut(labels, IGNORED) };
};

const refusing: Pack = (args) =>
  args.input_ids.some(({ length }) => length > args.max_length)
    ? reject('an example is longer than a row')
    : packed(all)(args);

async function judged(overlong: Capability['overlong'], pack: Pack): Promise<PropertyResult> {
  const trainer = objectTrainer({
    hello: { protocol: 1, name: 'pack', ops: { pack: overlong === undefined ? {} : { overlong } } },
    ops: { pack },
  });
  const [result] = await run(
    {
      trainer,
      tokenizer: undefined,
      properties: packOverlong as readonly unknown[] as readonly Property[],
      seed: 7,
      cases: 100,
      command: 'test',
    },
    () => undefined,
  );
  return result as PropertyResult;
}

test.each<[string, Capability['overlong'], Pack]>([
  ['left out', 'drop', packed(() => [])],
  ['cut on the right', 'truncate', packed((row, most) => [row.slice(0, most)])],
  ['cut on the left', 'truncate', packed((row, most) => [row.slice(-most)])],
  ['in pieces', 'split', packed(all)],
  ['in a stream', 'split', streamed],
  ['refused', 'refuse', refusing],
])('%s is right', async (_, overlong, pack) => {
  expect(await judged(overlong, pack)).toMatchObject({ verdict: 'pass' });
});

test.each<[string, Capability['overlong'], Pack, string]>([
  ['the last piece is lost', 'split', packed((row, most) => all(row, most, 'ids').slice(0, -1)), 'rows'],
  ['pieces overlap', 'split', packed(pieces((most) => Math.max(1, most - 1))), 'rows'],
  [
    'labels lose the other end',
    'truncate',
    packed((row, most, of) => [of === 'ids' ? row.slice(0, most) : row.slice(-most)]),
    'labels',
  ],
  [
    'the middle is lost',
    'truncate',
    packed((row, most) => [[...row.slice(0, 1), ...row.slice(1 - most)]]),
    'rows',
  ],
  [
    'the example behind it is left out, too',
    'drop',
    packed(
      () => [],
      (args) => {
        const kept = (_: unknown, at: number): boolean =>
          (args.input_ids[at - 1]?.length ?? 0) <= args.max_length;
        return { ...args, input_ids: args.input_ids.filter(kept), labels: args.labels.filter(kept) };
      },
    ),
    'rows',
  ],
  ['it is cut and not left out', 'drop', packed((row, most) => [row.slice(0, most)]), 'rows'],
  ['it is in a row above the limit', 'truncate', packed((row) => [row]), 'rows'],
  ['it is not refused', 'refuse', packed((row, most) => [row.slice(0, most)]), 'not refused'],
])('%s is wrong', async (_, overlong, pack, kind) => {
  const { verdict, failure } = await judged(overlong, pack);
  expect([verdict, failure?.finding?.kind]).toEqual(['fail', kind]);
});

test('who does not declare it is sent none', async () => {
  expect(await judged(undefined, () => expect.fail('it was asked'))).toMatchObject({
    verdict: 'unsupported',
  });
});

test('another word is no choice', () => {
  expect(decodeHello({ protocol: 1, name: 'x', ops: { pack: { overlong: 'cut' } } })).toHaveProperty(
    'complaint',
  );
});

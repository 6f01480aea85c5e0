// How far two runs are apart at each place: in units of the rounding, in the order of the model, and nothing where nothing was compared.
import { expect, test } from 'vitest';
import { distancesOf } from '../../src/twin/distance.ts';
import { moduleOf, type Picture, pictureOf } from '../../src/twin/picture.ts';
import { FLOOR, MARGIN } from '../../src/twin/rounding.ts';
import type { Print, TwinRow, TwinRun, TwinStep } from '../../src/twin/run.ts';

const print = (size: number): Print => [Math.abs(size), ...Array<number>(8).fill(size)];
const tensors = (head: number): ReadonlyMap<string, Print> =>
  new Map([
    ['0 embed.weight', print(2)],
    ['0 layer.down.weight', print(1)],
    ['0 head.weight', print(head)],
  ]);
const row = (layer: number, logprob = -2): TwinRow => ({
  rank: 0,
  forward: 0,
  row: 0,
  ids: [1, 2],
  tokens: [{ at: 1, target: 2, weight: 0.5, logprob }],
  outputs: new Map(
    ['embed', 'layer.act', 'layer', 'head'].map((name) => [name, print(name === 'layer' ? layer : 1)]),
  ),
  unmasked: undefined,
});
const step = (more: Partial<TwinStep>): TwinStep => ({
  index: 0,
  rows: [row(1)],
  gradients: tensors(1),
  before: tensors(1),
  after: tensors(1),
  rates: [0.1],
  made: true,
  ...more,
});
const run = (...steps: readonly Partial<TwinStep>[]): TwinRun => ({
  steps: steps.map((more, index) => step({ index, ...more })),
  applied: true,
  hasDropout: false,
  samples: false,
  could: new Set(),
  hasArguments: false,
  ledger: {} as TwinRun['ledger'],
});

const cellsOf = (picture: Picture, name: string): object | undefined =>
  picture.rows.find((each) => each.name === name)?.cells[0];

test('each cell is in units of the rounding, those of no difference are 0', () => {
  const noise = distancesOf(run({}), run({ gradients: tensors(1.001), rows: [row(1.0001)] }));
  const picture = pictureOf(
    distancesOf(run({}), run({ gradients: tensors(1.1), rows: [row(1.002)] })),
    noise,
  );
  expect(cellsOf(picture, 'head')).toEqual({
    start: 0,
    output: 0,
    gradient: expect.closeTo(91, 0),
    after: 0,
  });
  expect(cellsOf(picture, 'layer')).toEqual({ output: expect.closeTo(20, 0) });
  expect(cellsOf(picture, 'embed')).toEqual({ start: 0, output: 0, gradient: 0, after: 0 });
  expect(cellsOf(picture, 'learning rates')).toEqual({ after: 0 });
});

test('rows are in the order in which modules are called, those with tensors alone beside their neighbours', () => {
  const distances = distancesOf(run({}), run({}));
  const names = pictureOf(distances, distances).rows.flatMap(({ name, whole }) => (whole ? [] : [name]));
  expect(names).toEqual(['embed', 'layer.down', 'layer.act', 'layer', 'head']);
});

test('other rows, other rates and other probabilities stand above the modules', () => {
  const other = { rows: [{ ...row(1), ids: [1, 3] }], rates: [0.1, 0.2] };
  const distances = distancesOf(run({}), run(other));
  const picture = pictureOf(distances, distancesOf(run({}), run({})));
  expect(picture.rows[0]).toMatchObject({
    name: 'rows and their targets',
    cells: [{ output: Number.POSITIVE_INFINITY }],
  });
  expect(cellsOf(picture, 'learning rates')).toEqual({ after: Number.POSITIVE_INFINITY });
  const surer = pictureOf(
    distancesOf(run({}), run({ rows: [row(1, -2.01)] })),
    distancesOf(run({}), run({})),
  );
  expect(cellsOf(surer, 'log-probabilities of the targets')).toEqual({
    output: expect.closeTo(0.01 / (FLOOR / MARGIN), 0),
  });
});

test('of rows among others, only what they give is compared; of steps without rounding, nothing', () => {
  const distances = distancesOf(run({}, {}), run({}, {}));
  const picture = pictureOf(distances, distances.slice(0, 1), true);
  expect(picture.steps).toEqual([0]);
  expect(new Set(picture.rows.flatMap(({ cells }) => cells.flatMap((cell) => Object.keys(cell))))).toEqual(
    new Set(['output']),
  );
});

test('the module of a tensor', () => {
  expect(['0 a.b.weight', '1 weight'].map(moduleOf)).toEqual(['a.b', '']);
});

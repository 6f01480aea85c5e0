// Gradients at the places of a backward pass: the smallest module that takes a right one in and gives a wrong one out.
import { expect, test } from 'vitest';
import { type BackwardPlace, backwardPlace } from '../../src/twin/backward.ts';

/** In the order of the backward pass; `!` is apart. */
const place = (...places: readonly string[]): BackwardPlace | undefined =>
  backwardPlace(
    new Map(places.map((each) => [each.replace('!', ''), each.startsWith('!') ? 0.5 : 1e-7])),
    () => 1e-5,
  );

test('nothing was seen, and nothing is apart', () => {
  expect(place()).toBeUndefined();
  expect(place('output head', 'input head', 'output layers.0')).toEqual({ kind: 'nowhere' });
});

test('the innermost module, and of several in a row the first', () => {
  const outer = ['output head', 'output ', 'output layers.1', 'output layers.1.mlp'];
  expect(place(...outer, '!output layers.1.mlp.down', '!input layers.1.mlp', '!input layers.1')).toEqual({
    kind: 'module',
    module: 'layers.1.mlp',
  });
  expect(place(...outer, '!input layers.1', '!output layers.0', '!input layers.0')).toEqual({
    kind: 'module',
    module: 'layers.1',
  });
  // A name that begins alike is none inside of it.
  expect(place('output layers.1', 'output layers.10', '!input layers.1', '!input layers.10')).toEqual({
    kind: 'module',
    module: 'layers.1',
  });
});

test('between the modules of the root, and before all of them', () => {
  expect(place('output ', 'output norm', '!output layers.1', '!input ')).toEqual({
    kind: 'module',
    module: '',
  });
  expect(place('!output head', '!input head')).toEqual({ kind: 'from', side: 'output', module: 'head' });
});

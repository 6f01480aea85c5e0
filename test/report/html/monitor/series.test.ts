import { expect, test } from 'vitest';
import { type SeriesOptions, seriesPlot } from '../../../../src/report/html/monitor/series.ts';
import { HOSTILE, isHarmless } from '../page/hostile.ts';

const plot = (ys: readonly number[], more: Partial<SeriesOptions> = {}): string =>
  seriesPlot({
    points: ys.map((y, x) => ({ x, y })),
    title: 'KL by step',
    xLabel: 'step',
    yLabel: 'kl',
    ...more,
  }).markup;

const numbersIn = (markup: string): number[] =>
  [...markup.matchAll(/(?:points|x|y|cx|cy|x1|x2|y1|y2)="([^"]*)"/g)].flatMap(([, text = '']) =>
    text.split(/[ ,]/).map(Number),
  );

test('a line is drawn and told in words', () => {
  const markup = plot([4, 2, 1]);
  expect(markup.match(/<polyline/g)).toHaveLength(1);
  expect(markup).toContain('<title>KL by step</title><desc>kl from 4 at step 0 to 1 at step 2.</desc>');
  expect(markup).toContain('role="img" aria-label="KL by step. kl from 4');
});

test('what is no number breaks the line and is marked', () => {
  const markup = plot([1, 2, Number.NaN, 3, 4, Number.POSITIVE_INFINITY]);
  expect(markup.match(/<polyline/g)).toHaveLength(2);
  expect(markup.match(/class="none"/g)).toHaveLength(2);
  expect(markup).toContain('2 of 6 points are not drawn');
});

test.each([
  ['no points', []],
  ['only NaN', [Number.NaN, Number.NaN]],
  ['one point', [3]],
  ['one level', [2, 2, 2]],
  ['zeros', [0, 0]],
  ['the widest numbers there are', [-Number.MAX_VALUE, Number.MAX_VALUE]],
  ['the smallest', [Number.MIN_VALUE, 2 * Number.MIN_VALUE]],
])('%s is drawn with finite coordinates', (_, ys) => {
  for (const scale of ['linear', 'log'] as const)
    expect(numbersIn(plot(ys, { scale })).every(Number.isFinite), scale).toBe(true);
});

test('a logarithmic axis has powers of ten, and leaves out what has no logarithm', () => {
  const markup = plot([1000, 10, 0, -1], { scale: 'log' });
  expect(markup).toContain('>1000</text>');
  expect(markup.match(/class="none"/g)).toHaveLength(2);
});

test('a band and the first violation are drawn where they are given', () => {
  const markup = plot([1, 1, 5], {
    band: [
      { x: 0, low: 0, high: 2 },
      { x: 2, low: 0, high: 2 },
    ],
    violation: 2,
  });
  expect(markup).toContain('class="band"');
  expect(markup).toContain('class="violation"');
  expect(markup).toContain('First violation at step 2.');
  expect(plot([1])).not.toContain('class="violation"');
});

test('of 100,000 points the extremes are kept', () => {
  const markup = plot(Array.from({ length: 100_000 }, (_, x) => (x === 54_321 ? 10 : Math.sin(x))));
  expect(markup.length).toBeLessThan(40_000);
  const [, points = ''] = /<polyline class="line" points="([^"]*)"/.exec(markup) ?? [];
  const heights = points.split(' ').map((point) => Number(point.split(',')[1]));
  expect(heights.filter((y) => y < 30)).toHaveLength(1);
});

test('hostile labels do nothing', () => {
  for (const text of HOSTILE)
    expect(isHarmless(plot([1, 2], { title: text, xLabel: text, yLabel: text }))).toBe(true);
});

// The page of a gap: the verdict, both sides, what it does to training, tokens, all causes, and nothing of it that acts.
import { describe, expect, test } from 'vitest';
import { CAUSES } from '../../../../src/gap/causes/index.ts';
import { gapBars } from '../../../../src/report/html/gap/bars.ts';
import { gapPage } from '../../../../src/report/html/gap/gap.ts';
import { scatter } from '../../../../src/report/html/gap/scatter.ts';
import { HOSTILE, isHarmless } from '../page/hostile.ts';
import { gapWith, hostileGap, PLANTED_PAGES, pageOf } from './gaps.ts';

const bodyOf = (page: string): string => page.slice(page.indexOf('<main'), page.indexOf('</main>'));
const GAPS = {
  noise: gapWith(PLANTED_PAGES.noise),
  cause: gapWith(PLANTED_PAGES.cause),
  unexplained: gapWith(PLANTED_PAGES.unexplained),
};

describe('the page', () => {
  test.each([
    ['noise', 'blue', '✓</span> Noise:'],
    ['cause', 'orange', '✗</span> shift explains'],
    ['unexplained', 'orange', '?</span> No verdict:'],
  ] as const)('of %s begins with the verdict', (verdict, brush, words) => {
    const body = bodyOf(gapPage(pageOf(GAPS[verdict])));
    expect(body).toContain(`<h1 class="${brush}"><span class="glyph" aria-hidden="true">${words}`);
  });

  const body = bodyOf(gapPage(pageOf(GAPS.cause)));

  test('has a card for a cause that is named, and none without', () => {
    expect(body.match(/<article class="card"/g)).toHaveLength(GAPS.cause.analysis.named.length);
    expect(body).toContain(
      '<p>The two sides are shifted: the trainer&#39;s log-probability of a token stands',
    );
    expect(bodyOf(gapPage(pageOf(GAPS.noise)))).not.toContain('<article');
  });

  test('lists every cause that competed, once, with its outcome', () => {
    const competed = body.slice(body.indexOf('aria-label="All causes"'));
    const table = competed.slice(0, competed.indexOf('</table>'));
    const names = [...table.matchAll(/<th scope="row"><code>([a-z-]+)<\/code>/g)].map(([, name]) => name);
    expect(names.toSorted()).toEqual(CAUSES.map(({ id }) => id).toSorted());
    expect(table.match(/>named</g)).toHaveLength(1);
    expect(table).toMatch(/<code>shift<\/code>.*<b class="orange">named<\/b>/);
  });

  test('marks the measures outside their range by more than colour, with the range', () => {
    const training = body.slice(body.indexOf('id="training"'), body.indexOf('id="tokens"'));
    expect(training).toMatch(
      /<th scope="row">mean weight<\/th><td class="orange"><span class="glyph" aria-hidden="true">!<\/span> [\d.]+<span class="sr-only"> \(outside\)<\/span><\/td><td>0\.5 to 2 \(verl\)/,
    );
    expect(bodyOf(gapPage(pageOf(GAPS.noise)))).not.toContain('(outside)');
  });

  test('lists the largest gaps with row, place, id and both sides; with text only where there is a tokenizer', () => {
    const [first] = GAPS.cause.picture.largest;
    expect(body).toMatch(
      new RegExp(
        `<th scope="row">${first?.where}</th><td class="number">${first?.position}</td><td class="number">${first?.id}</td><td class="number">-`,
      ),
    );
    const told = bodyOf(gapPage(pageOf(GAPS.cause, { textOf: (id) => `word${id}` })));
    expect(told).toContain(`<b><bdi>word${first?.id}</bdi></b>`);
    expect(told).not.toContain('With --tokenizer');
    expect(body).toContain('With --tokenizer');
  });

  test('has notes of rows that were left out, and none without', () => {
    expect(body).not.toContain('role="note"');
    expect(bodyOf(gapPage(pageOf(GAPS.cause, { notes: ['1 row left out.'] })))).toContain(
      '<div class="banner" role="note"><p>1 row left out.</p></div>',
    );
  });
});

describe('the scatter', () => {
  test('has a dot for each point and a cross for each of the largest, all within the square', () => {
    const { picture } = GAPS.cause;
    const { markup } = scatter(picture, 100_000);
    const pathOf = (name: string): string =>
      markup.match(new RegExp(`class="${name}" d="([^"]*)"`))?.[1] ?? '';
    expect(pathOf('dots').match(/h0/g)).toHaveLength(picture.points.length);
    expect(pathOf('far').match(/m0/g)).toHaveLength(picture.largest.length);
    const places = [...pathOf('dots').matchAll(/M([\d.-]+) ([\d.-]+)/g)].map(([, x, y]) => [
      Number(x),
      Number(y),
    ]);
    expect(places.every(([x = -1, y = -1]) => x >= 30 && x <= 320 && y >= 6 && y <= 296)).toBe(true);
    expect(markup).toContain(`${picture.points.length.toLocaleString('en')} tokens of 100,000, drawn evenly`);
  });

  test('equal sides lie on the diagonal, a likelier token of the trainer above it', () => {
    const at = (engine: number, trainer: number): readonly number[] => {
      const { markup } = scatter(
        {
          ...GAPS.noise.picture,
          points: [
            [engine, trainer],
            [-10, -10],
          ],
          largest: [],
        },
        2,
      );
      return (/class="dots" d="M([\d.]+) ([\d.]+)/.exec(markup) ?? []).slice(1).map(Number);
    };
    expect(at(-5, -5)).toEqual([30 + 145, 6 + 145]);
    expect(at(-5, -2)[1]).toBeLessThan(6 + 145);
  });

  test('draws what is far below at its edge', () => {
    const { markup } = scatter({ ...GAPS.noise.picture, points: [[-9000, -1]], largest: [] }, 1);
    expect(markup).toMatch(/class="dots" d="M30 /);
  });
});

test('a bar that is twice the mean stands out, and a single bar is no figure', () => {
  const bin = (from: number, meanAbs: number) => ({ from, to: from, tokens: 10, meanAbs });
  const { markup = '' } = gapBars({ title: 'x', bins: [bin(0, 1), bin(1, 0.1)], mean: 0.2 }) ?? {};
  expect(markup.match(/class="bar out"/g)).toHaveLength(1);
  expect(markup).toContain('aria-label="x: place 0: 1; place 1: 0.1."');
  expect(gapBars({ title: 'x', bins: [bin(0, 1)], mean: 1 })).toBeUndefined();
  expect(gapBars({ title: 'x', bins: [bin(0, 0), bin(1, 0)], mean: 0 })?.markup).not.toContain('NaN');
});

test.each(HOSTILE.map((text) => [text.slice(0, 20), text]))('%j stays text', (_, text) => {
  const page = gapPage(hostileGap(text));
  const ours = bodyOf(page).replaceAll(/<\/?(?:main|h1|h2)(?: [a-z-]+="[^"<>]*")*>/g, '');
  expect(isHarmless(ours.replace(/^<main[^>]*>/, ''))).toBe(true);
  expect(page.length).toBeLessThan(MOST_SIZE);
});
const MOST_SIZE = 1_000_000;

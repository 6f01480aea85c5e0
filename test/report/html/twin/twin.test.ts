// The page of a twin: what each change did, where the runs part, a cell for each module and step, and nothing of it that acts.
import { describe, expect, test } from 'vitest';
import { pictureTable } from '../../../../src/report/html/twin/picture.ts';
import { twinPage } from '../../../../src/report/html/twin/twin.ts';
import type { Picture } from '../../../../src/twin/picture.ts';
import { HOSTILE, isHarmless } from '../page/hostile.ts';
import { hostileTwin, picture, RESULTS, twinOf } from './twins.ts';

const bodyOf = (page: string): string => page.slice(page.indexOf('<main'), page.indexOf('</main>'));

describe('the page', () => {
  const body = bodyOf(twinPage(twinOf()));

  test('names the outcome of each change, in its heading and in a table', () => {
    expect(body).toContain('checkpointing changed what is trained; 1 change agrees; not compared: ranks.');
    expect(body).toContain('<a href="#change-repeat">');
    expect(body).toContain('the same to the last bit, 2 steps');
    expect(body).toContain(': with the change the script failed (exit code 1): no torchrun');
    expect(body).toContain('Traceback\nno torchrun');
  });

  test('says where the runs part with both values, and marks the place once', () => {
    expect(body).toContain('(norm 0.5 instead of 0.3, 40 % apart)');
    expect(body).toContain('The gradient at the output of layers.1.mlp agrees, and at its input it does not');
    const table = body.slice(body.indexOf('id="change-checkpointing"'), body.indexOf('</article>'));
    expect(table.match(/ first"/g)).toHaveLength(1);
    expect(table).toMatch(
      /<code>layers\.1\.mlp<\/code><\/th><td class="z">0<\/td><td class="d2">0\.3<\/td><td class="o2 first">400<span class="sr-only"> the runs part here first/,
    );
  });

  test('says how large each difference is by a number and by its look, with the margin of 10 between', () => {
    const looks = [...body.matchAll(/<td class="(\w\d?)">([^<]*)<\/td>/g)].map(
      ([, look, text]) => `${look} ${text}`,
    );
    expect(new Set(looks)).toEqual(
      new Set(['z 0', 'd2 0.3', 'd1 0.02', 'o2 400', 'o2 200', 'd3 3', 'o1 40', 'o3 7e3', 'd2 0.4']),
    );
  });

  test('has notes of what the runs did, and none without', () => {
    expect(body).not.toContain('role="note"');
    const noted = bodyOf(twinPage(twinOf(RESULTS, { notes: ['The runs changed files.'] })));
    expect(noted).toContain('<div class="banner" role="note"><p>The runs changed files.</p></div>');
  });
});

test.each(HOSTILE.map((text) => [text.slice(0, 20), text]))('%j stays text', (_, text) => {
  const body = bodyOf(twinPage(hostileTwin(text)));
  const ours = body.replaceAll(/<\/?(?:main|h1|h2)(?: [a-z-]+="[^"<>]*")*>/g, '');
  expect(isHarmless(ours.replace(/^<main[^>]*>/, ''))).toBe(true);
});

describe('the picture', () => {
  const markup = (of: Picture, step?: number): string =>
    pictureTable(
      of,
      'x',
      step === undefined ? undefined : { step, name: undefined, whole: false, kind: 'output' },
    )?.markup ?? '';

  test('of many modules: the deepest stand together, with the largest of their differences', () => {
    const names = Array.from({ length: 300 }, (_, at) => `layers.${Math.floor(at / 3)}.part.${at % 3}`);
    const large = picture(names);
    const rows = large.rows.map((row, at) =>
      at === 5 ? { ...row, cells: [{ output: 55 }, ...row.cells.slice(1)] } : row,
    );
    const table = markup({ ...large, rows });
    expect(table.match(/<tr/g)?.length).toBeLessThan(170);
    expect(table).toContain('<code>layers.1.part</code>');
    expect(table).toContain('<td class="o1">55</td>');
    expect(table).toContain('Modules of more than 3 levels stand together');
  });

  test('of many steps: those around the one in question', () => {
    const rows = picture().rows.map((row) => ({
      ...row,
      cells: Array.from({ length: 40 }, () => ({ output: 1 })),
    }));
    const table = markup({ steps: Array.from({ length: 40 }, (_, at) => at), rows }, 30);
    const steps = [...table.matchAll(/>step (\d+)</g)].map(([, step]) => Number(step));
    expect(steps).toEqual(Array.from({ length: 12 }, (_, at) => 25 + at));
    expect(table).toContain('28 more steps of these runs are not on the page.');
  });

  test('of nothing is none', () => {
    expect(pictureTable({ steps: [0], rows: [] }, 'x')).toBeUndefined();
  });
});

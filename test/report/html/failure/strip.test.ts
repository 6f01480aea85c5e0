import { describe, expect, test } from 'vitest';
import type { Strip } from '../../../../src/check/property.ts';
import { stripTable } from '../../../../src/report/html/failure/strip.ts';
import { maskStrip } from '../../results.ts';
import { HOSTILE, isHarmless } from '../page/hostile.ts';

/** What each row says, cell by cell, its label first. */
function rowsOf(strip: Strip): string[][] {
  return [...stripTable(strip).markup.matchAll(/<tr.*?<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '')),
  );
}

function stripOf(options: {
  readonly texts?: readonly string[];
  readonly ids?: readonly number[];
  readonly expected?: readonly string[];
  readonly observed?: readonly string[];
  readonly marks?: readonly number[];
}): Strip {
  const { texts = [], expected = [], observed = [], marks = [] } = options;
  return {
    row: 0,
    tokens: (options.ids ?? expected.map((_, at) => at)).map((id, at) => ({
      id,
      role: 'completion',
      ...(texts[at] === undefined ? {} : { text: texts[at] }),
    })),
    tracks: [
      { name: 'expected', cells: expected },
      { name: 'observed', cells: observed },
    ],
    marks,
  };
}

const differences = (strip: Strip): string[] | undefined =>
  rowsOf(strip)
    .find(([label]) => label === 'difference')
    ?.slice(1);

test('every row has its label and a cell for every token', () => {
  const rows = rowsOf(maskStrip());
  expect(rows.map(([label]) => label)).toEqual([
    'row 1',
    'token',
    'id',
    'role',
    'expected',
    'observed',
    'difference',
    'mismatch',
  ]);
  for (const row of rows) expect(row).toHaveLength(maskStrip().tokens.length + 1);
});

test('the first mismatch is told from the others by frame, glyph and word', () => {
  const { markup } = stripTable(maskStrip());
  const marks = rowsOf(maskStrip()).at(-1);
  expect(marks?.[6]).toBe('▲first mismatch');
  expect(marks?.[8]).toBe('△mismatch');
  expect(markup.match(/class="first"/g)).toHaveLength(8);
  expect(markup.match(/class="other"/g)).toHaveLength(8);
});

test('a role is a band and a word', () => {
  const { markup } = stripTable(maskStrip());
  expect(markup).toContain('<col class="b-padding"><col class="b-prompt">');
  expect(rowsOf(maskStrip())[3]).toEqual([
    'role',
    'pad',
    'prompt',
    'prompt',
    'prompt',
    'prompt',
    'prompt',
    'compl.',
    'stop',
  ]);
});

test('the region can be focused, scrolled and told from others', () => {
  expect(stripTable(maskStrip(), { label: 'kl, row 1' }).markup).toMatch(
    /^<div class="strip[^"]*" role="region" tabindex="0" aria-label="kl, row 1">/,
  );
});

describe('the difference', () => {
  test('stands where two numbers differ', () => {
    expect(
      differences(stripOf({ expected: ['0.5', '1', '·', '3'], observed: ['0.25', '1', '2', 'x'] })),
    ).toEqual(['-0.25', '', '', '']);
  });

  test('says when a number has become none', () => {
    expect(differences(stripOf({ expected: ['1', 'NaN'], observed: ['NaN', 'NaN'] }))).toEqual(['NaN', '']);
  });

  test('is left out where nothing differs', () => {
    expect(differences(stripOf({ expected: ['1', '2'], observed: ['1', '2'] }))).toBeUndefined();
  });

  test('is left out between ids, and between an id and the label that is ignored', () => {
    expect(
      differences(stripOf({ ids: [857, 863], expected: ['857', '863'], observed: ['858', '-100'] })),
    ).toBeUndefined();
    expect(differences(stripOf({ expected: ['7'], observed: ['-100'] }))).toBeUndefined();
  });
});

test('of a row of 4,096 tokens only what is near the marks and the ends is shown, and how much is not', () => {
  const cells = Array.from({ length: 4096 }, () => '0');
  const { markup } = stripTable(stripOf({ expected: cells, observed: cells, marks: [2000, 2001] }));
  expect(markup).toContain('+1,992');
  expect(markup.match(/<th scope="col"/g)?.length).toBeLessThan(30);
  expect(markup.length).toBeLessThan(12_000);
});

test('a long token is cut, its length said, and more of it in the tool tip', () => {
  const { markup } = stripTable(stripOf({ texts: ['y'.repeat(100_000)], expected: ['1'], observed: ['0'] }));
  expect(markup).toContain(`<bdi>${'y'.repeat(40)}…</bdi><small class="cut"> 100,000 characters</small>`);
  expect(markup).toContain(`title="${'y'.repeat(2000)}"`);
  expect(markup.length).toBeLessThan(6_000);
});

test('white space is seen', () => {
  const [, tokens] = rowsOf(stripOf({ texts: [' a', '\n\t'], expected: ['1', '1'], observed: ['0', '1'] }));
  expect(tokens).toEqual(['token', '␣a', '⏎⇥']);
});

test('hostile tokens, cells and names do nothing', () => {
  for (const text of HOSTILE) {
    const strip = stripOf({ texts: [text], expected: [text.slice(0, 99)], observed: ['1'], marks: [0] });
    const tracks = [...strip.tracks, { name: text.slice(0, 99), cells: ['1'] }];
    expect(isHarmless(stripTable({ ...strip, tracks }).markup), JSON.stringify(text.slice(0, 40))).toBe(true);
  }
});

test('a strip without tokens is still a table', () => {
  expect(rowsOf({ row: 3, tokens: [], tracks: [], marks: [] })).toEqual([['row 3, column']]);
});

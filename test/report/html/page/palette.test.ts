// Colours that mean something are told apart by everybody: by who lacks a kind of cone (computed, light and dark), and by
// who sees none, because none of them stands alone.
import { describe, expect, test } from 'vitest';
import { assets } from '../../../../src/report/html/page/assets.ts';
import { apart, contrast, mixed, SIGHT_NAMES } from './colour-vision.ts';

const { text } = assets().css;

/** Custom properties in light and in dark, of all style sheets. */
const [LIGHT, DARK] = [false, true].map((dark) => {
  const blocks = [
    ...text.matchAll(/(@media screen and \(prefers-color-scheme: dark\) \{\s*)?:root\s*\{([^}]*)\}/g),
  ];
  const own = blocks.filter(([, media]) => (media !== undefined) === dark).map(([, , body]) => body ?? '');
  return new Map(
    [...own.join('\n').matchAll(/(--[\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
});

const CURVES = ['--blue', '--c1', '--c2', '--c3', '--c4', '--c5'];

describe.each([
  ['light', LIGHT],
  ['dark', DARK],
])('%s', (_, colours = new Map()) => {
  const of = (name: string): string => {
    const value = colours.get(name);
    if (value === undefined) throw new Error(`${name} is no colour of the style sheets`);
    return value;
  };
  const [ground, blue, orange] = ['--ground', '--blue', '--orange'].map(of) as [string, string, string];
  /** As the carpet has them, see carpet.css. */
  const untrained = mixed(of('--ink-2'), ground, 0.22);

  test.each(SIGHT_NAMES)('right and wrong, trained and not are far apart: %s', (sight) => {
    expect(apart(blue, orange, sight)).toBeGreaterThan(18);
    for (const other of [untrained, ground]) {
      expect(apart(blue, other, sight)).toBeGreaterThan(35);
      expect(apart(orange, other, sight)).toBeGreaterThan(35);
    }
    expect(apart(untrained, ground, sight)).toBeGreaterThan(10);
    // The weakest and the strongest weight of each side, and the sides at their weakest.
    expect(apart(mixed(blue, ground, 0.35), blue, sight)).toBeGreaterThan(18);
    expect(apart(mixed(orange, ground, 0.35), orange, sight)).toBeGreaterThan(18);
    expect(apart(mixed(blue, ground, 0.35), mixed(orange, ground, 0.35), sight)).toBeGreaterThan(5);
  });

  test.each(SIGHT_NAMES)('the lines of six runs, and the mark of what is wrong: %s', (sight) => {
    for (const [at, one] of CURVES.entries())
      for (const other of [...CURVES.slice(at + 1), '--orange'])
        expect(apart(of(one), of(other), sight), `${one} ${other}`).toBeGreaterThan(12);
  });

  test('are seen on the ground', () => {
    for (const name of CURVES) expect(contrast(of(name), ground), name).toBeGreaterThan(3);
    for (const name of ['--blue', '--orange', '--ink-2'])
      expect(contrast(of(name), ground), name).toBeGreaterThan(4.5);
  });
});

test('each line of several runs has dashes of its own beside its colour', () => {
  const dashes = [...text.matchAll(/\.curve\.(?:c\d|healthy) \{[^}]*--dash: ([^;]*);/g)].map(
    ([, dash]) => dash,
  );
  expect(dashes).toHaveLength(CURVES.length);
  expect(new Set(dashes).size).toBe(CURVES.length);
});

test('a simulated eye sees what is known of it: grey stays grey, red and green of one lightness run together', () => {
  for (const sight of SIGHT_NAMES) expect(apart('#808080', '#808080', sight)).toBe(0);
  expect(apart('#c04040', '#5a7a20', 'all cones')).toBeGreaterThan(20);
  expect(apart('#c04040', '#5a7a20', 'deuteranopia')).toBeLessThan(8);
});

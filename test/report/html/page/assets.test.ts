import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { assets } from '../../../../src/report/html/page/assets.ts';

describe('the assets of a page', () => {
  const { css, js, live } = assets();

  test('hold nothing that would end the tag around them', () => {
    for (const { text } of [css, js, live]) expect(text).not.toMatch(/<\/|<!--/);
  });

  test('ask for nothing from elsewhere', () => {
    for (const { text } of [css, js, live]) expect(text).not.toMatch(/https?:|@import|url\((?!#)/);
  });

  test('are named by the hash of exactly their text', () => {
    for (const { text, hash } of [css, js, live])
      expect(hash).toBe(`'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  });

  test('colours come from the custom properties that the page defines for light and dark alike', () => {
    const blocks = [...css.text.matchAll(/:root\s*\{([^}]*)\}/g)].map(([, body]) => body ?? '');
    const [light = [], dark = []] = blocks.map((body) =>
      [...body.matchAll(/(--[\w-]+):/g)].map(([, name]) => name),
    );
    const colours = light.filter((name) => name !== '--mono' && name !== '--radius');
    expect(dark).toEqual(colours);
    const defined = [...css.text.matchAll(/(--[\w-]+):/g)].map(([, name]) => name);
    for (const [, name] of css.text.matchAll(/var\((--[\w-]+)/g)) expect(defined).toContain(name);
  });
});

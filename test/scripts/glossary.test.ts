import { expect, test } from 'vitest';
import { conventions, description, exampleRows, pictures } from '../../scripts/docs/glossary.ts';
import { decodeTrack } from '../../src/protocol/layout.ts';

test.each(conventions)('$title: the harness reads the picture as the mask that it shows', (convention) => {
  const drawn = exampleRows.map(({ mask }) => convention.array(mask).map((value) => value ?? 0));
  const width = exampleRows[0]?.mask.length ?? 0;
  expect(decodeTrack(drawn, width, convention.layout, 0)).toEqual({
    ok: exampleRows.map(({ mask }) => mask),
  });
});

test('the conventions are told apart by the example', () => {
  const said = conventions.map(({ array, from }) =>
    JSON.stringify([from, array(exampleRows[0]?.mask ?? [])]),
  );
  expect(new Set(said).size).toBe(conventions.length);
});

test('the example has padding on both sides, prompts and completions of unequal length, and stops', () => {
  const roles = exampleRows.map((row) => row.roles);
  expect(roles.some((row) => row[0] === 'padding')).toBe(true);
  expect(roles.some((row) => row.at(-1) === 'padding')).toBe(true);
  expect(roles.every((row) => row.includes('stop'))).toBe(true);
  const lengths = exampleRows.map(({ mask }) => mask.filter((value) => value === 1).length);
  expect(new Set(lengths).size).toBe(lengths.length);
});

test('each picture is an SVG that says in words what it shows, and asks for nothing', () => {
  for (const [at, svg] of [...pictures().values()].entries()) {
    const convention = conventions[at];
    expect(svg).toMatch(/^<svg [^>]*role="img"/);
    expect(svg).toContain(`<title id="t">${convention?.title}</title>`);
    expect(svg.replaceAll('&lt;', '<').replaceAll('&gt;', '>')).toContain(
      convention === undefined ? '?' : description(convention),
    );
    expect(svg).not.toMatch(/href|url\(|@import/);
  }
});

// No file needs, by whatever way, a file that needs it. Python's packages are held to the same by test/python.
import { describe, expect, test } from 'vitest';
import { circlesOf, filesOf, neededBy } from './house.ts';

describe('circles', () => {
  test('no TypeScript file is in a circle of imports, types included', () => {
    const files = filesOf(['src', 'properties', 'scripts', 'test']);
    expect(circlesOf(new Map(files.map((file) => [file, neededBy(file)])))).toEqual([]);
  });

  test('a circle is seen: of two files, of one, and only those in it', () => {
    const graph = (...arrows: [string, string][]): Map<string, string[]> => {
      const files = new Map(arrows.flat().map((file): [string, string[]] => [file, []]));
      for (const [from, to] of arrows) files.get(from)?.push(to);
      return files;
    };
    expect(circlesOf(graph(['a', 'b'], ['b', 'c'], ['a', 'c']))).toEqual([]);
    expect(circlesOf(graph(['z', 'a'], ['a', 'b'], ['b', 'c'], ['c', 'a'], ['c', 'd']))).toEqual([
      ['a', 'b', 'c'],
    ]);
    expect(circlesOf(graph(['a', 'a']))).toEqual([['a']]);
  });
});

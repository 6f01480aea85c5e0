// The extras of the wheel bring what we have tried: each package of one stands, with its version, in the requirements of a suite.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';

const read = (path: string): string => readFileSync(join(PACKAGE_ROOT, path), 'utf8');
const filesBelow = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(PACKAGE_ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path) && !path.includes('node_modules'))
    .map((path) => join(folder, path));
const [, section = ''] =
  /\[project\.optional-dependencies\]\n([\s\S]*?)\n\[/.exec(read('src/python/pyproject.toml')) ?? [];
const extras = new Map(
  [...section.matchAll(/^(\w+) = (\[.*\])$/gm)].map(([, name = '', list = '']) => [
    name,
    JSON.parse(list) as readonly string[],
  ]),
);

/** `torch==2.13.0`, by `torch`. */
const tried = new Map(
  filesBelow('scripts', /requirements\.txt$/)
    .flatMap((path) => [...read(path).matchAll(/^([A-Za-z][\w.-]*)((?:==|>=)[^\s\\]+)/gm)])
    .map(([, name = '', version = '']) => [name.toLowerCase(), version]),
);

describe('the extras of pyproject.toml', () => {
  test('are those that the documents tell', () => {
    expect([...extras.keys()]).toEqual(['torch', 'trl', 'ray', 'tensorflow']);
    const start = read('docs/installation.md');
    for (const name of extras.keys()) expect(start).toMatch(new RegExp(`(lossproof)?\\[${name}\\]`));
  });

  test.each([...extras])('[%s] names packages, all of which are tried: %j', (_, packages) => {
    expect(packages.length).toBeGreaterThan(0);
    for (const name of packages) expect([...tried.keys()]).toContain(name);
  });

  test('hints to install one name one that there is', () => {
    const files = [
      ...filesBelow('src', /\.(ts|py)$/),
      ...filesBelow('docs', /\.md$/),
      'README.md',
      'README.zh.md',
    ];
    const hints = files
      .flatMap((path) => [...read(path).matchAll(/lossproof\[([\w,]+)\]/g)])
      .flatMap(([, names = '']) => names.split(','));
    expect(hints.length).toBeGreaterThan(0);
    for (const name of hints) expect([...extras.keys()]).toContain(name);
  });

  test('versions that documents say something was tried with are those of a suite', () => {
    const pins = filesBelow('scripts', /requirements\.txt$/).flatMap((path) =>
      [...read(path).matchAll(/^([a-z]+)(?:-cpu)?==([\d.]+)/gm)].map(
        ([, name, version]) => `${name} ${version}`,
      ),
    );
    const told = filesBelow('docs', /\.md$/).flatMap((path) =>
      [
        // What a machine with a GPU had stands beside its name, and is in no suite.
        ...read(path)
          .replaceAll(/^.*\bH[12]00\b.*$/gm, '')
          .matchAll(/\b(?:(torch|transformers|TensorFlow|TRL) (\d+\.[\d.]*\d)|(Ray) (\d+\.\d+\.\d+))/g),
      ].map(([, name, version, ray, ofRay]) => ({
        path,
        named: `${name ?? ray} ${version ?? ofRay}`.toLowerCase(),
      })),
    );
    expect(new Set(told.map(({ named }) => named.split(' ')[0])).size).toBe(5);
    for (const { path, named } of told)
      expect(
        pins.some((pin) => pin === named || pin.startsWith(`${named}.`)),
        `${path}: ${named}`,
      ).toBe(true);
  });

  test('what an adapter says that it was tested with is what it is tested with', () => {
    const [, said = ''] =
      /^_TESTED = "(.*)"$/m.exec(read('src/python/lossproof/adapters/common/_tiny.py')) ?? [];
    const pins = said.split(' ').filter((each) => each.includes('=='));
    expect(pins.map((each) => each.split('==')[0])).toEqual(['torch', 'transformers', 'trl']);
    for (const pin of pins) expect(read('scripts/trainers-requirements.txt').split('\n')).toContain(pin);
    expect(said.split(' ').map((each) => each.split('==')[0])).toEqual(extras.get('trl'));
  });
});

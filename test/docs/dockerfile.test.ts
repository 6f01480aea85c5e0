// The Dockerfile, as far as it can be tried where there is no docker: it is read as docker reads it, its shell lines by a shell, and
// what it copies and calls is there. scripts/wheel-test.sh runs what an image of it starts.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';

const read = (path: string): string => readFileSync(join(PACKAGE_ROOT, path), 'utf8');

interface Instruction {
  readonly word: string;
  readonly options: Readonly<Record<string, string>>;
  /** What stands behind the options. */
  readonly rest: string;
}

/** Lines that are continued are one, comments are none. */
function instructionsOf(text: string): readonly Instruction[] {
  return text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', options = '', rest = ''] = /^(\S+)\s+((?:--\S+\s+)*)(.*)$/.exec(line) ?? [];
      const pairs = [...options.matchAll(/--([\w-]+)=(\S+)/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]);
      return { word, options: Object.fromEntries(pairs), rest: rest.trim() };
    });
}

/** The words of `["a", "b"]`. */
function wordsOf(rest: string): readonly string[] {
  const words: unknown = JSON.parse(rest);
  if (!Array.isArray(words) || words.length === 0) throw new Error(`${rest} is no list of words`);
  return words.map(String);
}

const KNOWN = ['FROM', 'COPY', 'RUN', 'WORKDIR', 'USER', 'ENV', 'ENTRYPOINT', 'CMD'];

/** What docker, or the shell of its image, would refuse. */
function complaintsOf(text: string): readonly string[] {
  const complaints: string[] = [];
  const stages: string[] = [];
  const users = new Set<string>();
  for (const [at, { word, options, rest }] of instructionsOf(text).entries()) {
    const complain = (what: string): void => void complaints.push(`${word} ${rest}: ${what}`);
    if (!KNOWN.includes(word)) complain('no instruction of ours');
    if ((at === 0) !== (stages.length === 0)) complain('stands before FROM');
    const mounted = /(?:^|,)from=([^,]+)/.exec(options.mount ?? '')?.[1];
    for (const from of [options.from, mounted])
      if (from !== undefined && !stages.includes(from)) complain(`no stage ${from} before it`);
    if (word === 'FROM') {
      const [, image, name] = /^(\S+)(?: AS (\S+))?$/.exec(rest) ?? [];
      if (image === undefined || !/^[a-z]+:\d[\w.-]*$/.test(image)) complain('no image with its version');
      stages.push(name ?? '');
    }
    if (word === 'COPY') {
      const sources = rest.split(/\s+/).slice(0, -1);
      if (sources.length === 0) complain('copies nothing');
      if (options.from === undefined)
        for (const source of sources) if (!existsSync(join(PACKAGE_ROOT, source))) complain(`no ${source}`);
    }
    if (word === 'RUN') {
      const shell = spawnSync('sh', ['-n', '-c', rest], { encoding: 'utf8' });
      if (shell.status !== 0) complain(shell.stderr);
      const added = /\buseradd (?:--?\S+ (?:\d+ )?)*(\w+)/.exec(rest)?.[1];
      if (added !== undefined) users.add(added);
      for (const [, script = ''] of rest.matchAll(/npm run (\S+)/g))
        if (!(script in JSON.parse(read('package.json')).scripts)) complain(`no script ${script}`);
    }
    if (word === 'USER' && !users.has(rest)) complain('no such user');
    if (word === 'ENTRYPOINT' || word === 'CMD') {
      try {
        wordsOf(rest);
      } catch (error) {
        complain(String(error));
      }
    }
  }
  return complaints;
}

describe('the Dockerfile', () => {
  const text = read('Dockerfile');
  const last = text.slice(text.lastIndexOf('\nFROM '));

  test('is one that docker and its shell can read', () => {
    expect(complaintsOf(text)).toEqual([]);
  });

  test.each([
    ['FROM node:22-bookworm-slim AS node', 'FROM node AS node'],
    ['FROM node:22-bookworm-slim AS node', 'FROM node:22-bookworm-slim AS nodes'],
    ['from=wheel', 'from=wheels'],
    ['COPY . .', 'COPY ./engines .'],
    ['COPY . .', 'COPY .'],
    ['npm run wheel', 'npm run wheels'],
    ['npm run wheel', 'npm run wheel && ('],
    ['USER lossproof', 'USER root'],
    ['USER lossproof', 'USERS lossproof'],
    ['["lossproof"]', "['lossproof']"],
  ])('with %j as %j it is refused', (right, wrong) => {
    expect(text).toContain(right);
    expect(complaintsOf(text.replace(right, wrong))).not.toEqual([]);
  });

  test('starts the command of the wheel, as a user who is not root, from what it has installed', () => {
    const found = (word: string): string =>
      instructionsOf(last).find((each) => each.word === word)?.rest ?? '';
    const [command = ''] = wordsOf(found('ENTRYPOINT'));
    expect(read('src/python/pyproject.toml')).toMatch(new RegExp(`\\[project\\.scripts\\]\n${command} = `));
    expect(found('USER')).toBe('lossproof');
    const [, environment = ''] = /VIRTUAL_ENV=(\S+)/.exec(found('ENV')) ?? [];
    expect(found('ENV')).toContain(`PATH=${environment}/bin:$PATH`);
    expect(last).toContain(`python -m venv ${environment} && pip install`);
    expect(last).toContain(`chown lossproof: /work ${environment}`);
  });

  test('builds with a Node and runs with a Python that are supported', () => {
    const [, node = ''] = /^FROM node:(\d+)/m.exec(text) ?? [];
    const [, least = ''] = /"node": ">=(\d+)/.exec(read('package.json')) ?? [];
    expect(Number(node)).toBeGreaterThanOrEqual(Number(least));
    const pythons = [...text.matchAll(/^FROM python:([\d.]+)/gm)].map(([, version]) => version);
    expect(pythons).toHaveLength(2);
    for (const version of pythons)
      expect(read('src/python/pyproject.toml')).toContain(`Python :: ${version}"`);
  });

  test('is given every file of the history: .dockerignore leaves out none', () => {
    const patterns = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map(patternOf);
    expect(patterns.length).toBeGreaterThan(4);
    const ignored = (path: string): boolean => patterns.some((pattern) => pattern.test(path));
    for (const path of [
      'dist/src/cli/main.js',
      '.venv-ray/bin/python',
      'src/python/lossproof/__pycache__/x.pyc',
      'node_modules/a',
    ])
      expect(ignored(path), path).toBe(true);
    const { stdout } = spawnSync('git', ['ls-files'], { cwd: PACKAGE_ROOT, encoding: 'utf8' });
    const files = stdout.trimEnd().split('\n');
    expect(files.length).toBeGreaterThan(1000);
    expect(files.filter(ignored)).toEqual([]);
  });
});

/** A line of .dockerignore: what it names, and all below it. */
function patternOf(line: string): RegExp {
  const inside = line
    .replaceAll(/[.+^$()|[\]{}]/g, '\\$&')
    .replaceAll('**/', '@')
    .replaceAll('*', '[^/]*')
    .replaceAll('@', '(?:.*/)?');
  return new RegExp(`^${inside}(?:/|$)`);
}

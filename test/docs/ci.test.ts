// The files that users copy into their repositories: each is YAML of the plain kind, and each command in them is one
// that the program takes.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { splitCommand } from '../../src/cli/trainer/words.ts';
import { VERSION } from '../../src/version.ts';
import { makeProgram } from '../cli/commands.ts';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const FOLDER = join(DOCS, 'ci');
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');
const names = readdirSync(FOLDER);
const yamlNames = names.filter((name) => /\.ya?ml$/.test(name));

/** Ways to the keys of a plain YAML file, `jobs.lossproof.steps`; a line that is none of ours is said. */
function keysOf(yaml: string): {
  readonly keys: ReadonlySet<string>;
  readonly complaints: readonly string[];
} {
  const keys = new Set<string>();
  const complaints: string[] = [];
  /** Those that may not come again. */
  const here = new Set<string>();
  const open: { readonly indent: number; readonly key: string }[] = [];
  let scalar: number | undefined;
  for (const [at, line] of yaml.split('\n').entries()) {
    if (line.trim() === '' || line.trim().startsWith('#')) continue;
    const indent = line.length - line.trimStart().length;
    if (line === '---') {
      // Another document.
      here.clear();
      open.length = 0;
      continue;
    }
    if (scalar !== undefined && indent > scalar) continue;
    scalar = /^ *- [|>][-+]?$/.test(line) ? indent : undefined;
    if (scalar !== undefined) continue;
    const [, dash = '', key, value = ''] = /^ *(- )?(?:([\w-]+):(?: +(.*))?)?$/.exec(line) ?? [];
    const item = /^ *- +\S/.test(line);
    if (line.includes('\t') || indent % 2 === 1 || (key === undefined && !item))
      complaints.push(`line ${at + 1}: ${line}`);
    if (key === undefined) continue;
    const depth = indent + dash.length;
    while (open.length > 0 && (open.at(-1)?.indent ?? 0) >= depth) open.pop();
    if (dash !== '') {
      // Another item: what stood in the one before it may stand in it, too.
      const list = `${open.map((each) => each.key).join('.')}.`;
      for (const path of here) if (path.startsWith(list)) here.delete(path);
    }
    open.push({ indent: depth, key });
    const path = open.map((each) => each.key).join('.');
    if (here.has(path)) complaints.push(`line ${at + 1}: ${path} twice`);
    here.add(path);
    keys.add(path);
    if (/^[|>][-+]?$/.test(value)) scalar = depth;
    for (const quote of [`'`, '"'])
      if ((value.split(quote).length - 1) % 2 === 1)
        complaints.push(`line ${at + 1}: ${quote} is not closed`);
  }
  return { keys, complaints };
}

/** Every `npx lossproof ...` of a text: lines that were folded or continued are one. */
function commandsOf(text: string): string[][] {
  const whole = text.replaceAll(/\\\n\s*/g, ' ').replaceAll(/\n\s+(?=--)/g, ' ');
  return [...whole.matchAll(/(?:npx |run: )lossproof ([a-z][^\n`#|&]+)/g)].map(([, rest = '']) => {
    const words = splitCommand(rest.trim());
    if ('problem' in words) throw new Error(words.problem);
    return [...words];
  });
}

const program = await makeProgram();

function unknownOptions(words: readonly string[]): readonly string[] {
  const command = program.commands.find((each) => each.name() === words[0]);
  if (command === undefined) return [`no command ${words[0]}`];
  const end = words.indexOf('--');
  // What a shell puts there is a number in all of our files, or stands in the name of a file.
  const plain = words.map((word) => word.replaceAll(/\$\(\(.*?\)\)|\$\w+/g, '1'));
  return command.parseOptions(plain.slice(1, end < 0 ? undefined : end)).unknown;
}

describe('the files of docs/ci', () => {
  test.each(yamlNames)('%s is YAML of the plain kind', (name) => {
    expect(keysOf(read(name)).complaints).toEqual([]);
  });

  test('the check of YAML can fail', () => {
    for (const wrong of ['a:\n\tb: 1', 'a:\n   b: 1', 'a: 1\na: 2', 'a:\n  - b: 1\n    b: 2', "a: 'b", 'a b'])
      expect(keysOf(wrong).complaints).not.toEqual([]);
  });

  test('have the keys that their readers ask for', () => {
    const github = keysOf(read('github.yml')).keys;
    for (const key of ['on.pull_request', 'jobs.lossproof.runs-on', 'jobs.lossproof.steps.uses'])
      expect(github).toContain(key);
    const gitlab = keysOf(read('gitlab-ci.yml')).keys;
    for (const key of ['lossproof.script', 'lossproof.artifacts.reports.junit'])
      expect(gitlab).toContain(key);
    const hooks = keysOf(read('pre-commit-config.yaml')).keys;
    for (const key of ['repos.hooks.id', 'repos.hooks.entry', 'repos.hooks.pass_filenames'])
      expect(hooks).toContain(key);
  });

  test.each([...names.map((name) => join('ci', name)), 'events.md'])(
    '%s names only options that there are',
    (name) => {
      const commands = commandsOf(readFileSync(join(DOCS, name), 'utf8'));
      expect(commands.length).toBeGreaterThan(0);
      for (const words of commands) expect(unknownOptions(words), words.join(' ')).toEqual([]);
    },
  );

  test('the check of options can fail', () => {
    expect(unknownOptions(['check', '--htlm', 'x'])).toEqual(['--htlm', 'x']);
    expect(commandsOf('run: >-\n  npx lossproof check\n  --a b\n  --c d\n')).toEqual([
      ['check', '--a', 'b', '--c', 'd'],
    ]);
  });

  test('reports are kept from a job that failed, and files go in and out under one name', () => {
    const workflow = read('github.yml');
    const [check] = commandsOf(workflow);
    for (const kind of ['--html', '--junit', '--sarif']) expect(check).toContain(kind);
    for (const step of workflow
      .split('- uses: ')
      .filter((each) => /^(actions\/upload|github\/codeql|actions\/cache\/save)/.test(each)))
      expect(step).toContain('!cancelled()');
    expect(workflow.split('reports/lossproof.sarif')).toHaveLength(3);
    const job = read('gitlab-ci.yml');
    expect(job).toContain('artifacts:\n    when: always');
    expect(job.split('lossproof.xml')).toHaveLength(3);
  });

  test('what is pinned is this version', () => {
    const root = join(DOCS, '..');
    const component = readFileSync(join(root, 'templates', 'check.yml'), 'utf8');
    expect(/^ {4}version:\n.*\n {6}default: (.*)$/m.exec(component)?.[1]).toBe(VERSION);
    const files = [read('README.md'), component, readFileSync(join(root, 'action.yml'), 'utf8')];
    const pins = files.flatMap((text) => [...text.matchAll(/(?:@|@v|rev: v)(\d+\.\d+\.\d+)/g)]);
    expect(pins.length).toBeGreaterThan(3);
    expect(new Set(pins.map(([, pinned]) => pinned))).toEqual(new Set([VERSION]));
  });

  test('the table of outputs has every output, and the table of files every file', () => {
    const readme = read('README.md');
    const check = program.commands.find((each) => each.name() === 'check');
    const report = program.commands.find((each) => each.name() === 'report');
    const shared = (check?.options ?? []).filter(({ long }) =>
      report?.options.some((other) => other.long === long),
    );
    const outputs = shared.map(({ long }) => long).filter((long) => long !== '--config');
    expect(outputs.length).toBeGreaterThan(4);
    for (const output of outputs) expect(readme).toContain(`| \`${output}\` |`);
    for (const name of yamlNames) expect(readme).toContain(`](${name})`);
  });
});

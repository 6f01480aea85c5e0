// The files of docs/ci that deal a check out to jobs and pods: their readers' own schemas take them, and their shell lines
// are run as they stand, with two parts of the bundled example in a folder with a space.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

const BIN = resolve('.venv-ray/bin');
const CI = resolve('docs/ci');
const fileOf = (name: string): string => readFileSync(join(CI, name), 'utf8');

function folderWithSpace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ci '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('their readers take them', () => {
  const GITHUB = ['check-jsonschema', '--builtin-schema', 'vendor.github-workflows'];
  const ACTION = ['check-jsonschema', '--builtin-schema', 'vendor.github-actions'];
  const GITLAB = ['check-jsonschema', '--builtin-schema', 'vendor.gitlab-ci'];
  const KUBERNETES = ['kubernetes-validate', '--strict'];

  /** The exit code of a schema's own program. */
  function judged([program = '', ...words]: readonly string[], file: string): number | null {
    return spawnSync(join(BIN, program), [...words, file], { encoding: 'utf8' }).status;
  }

  test.each([
    ['github-matrix.yml', GITHUB],
    ['github.yml', GITHUB],
    ['gitlab-parallel.yml', GITLAB],
    ['gitlab-ci.yml', GITLAB],
    ['kubernetes.yaml', KUBERNETES],
  ])('%s', (name, reader) => {
    expect(judged(reader, join(CI, name))).toBe(0);
  });

  test('the action and the component of this repository, and the workflow for Windows', () => {
    expect(judged(ACTION, resolve('action.yml'))).toBe(0);
    expect(judged(GITHUB, join(CI, 'windows.yml'))).toBe(0);
    expect(
      judged(
        GITLAB,
        componentJob((text) => text),
      ),
    ).toBe(0);
  });

  test('the action and the component with a mistake in them are refused', () => {
    const action = join(folderWithSpace(), 'action.yml');
    writeFileSync(action, readFileSync('action.yml', 'utf8').replace('using: composite', 'use: composite'));
    expect(judged(ACTION, action)).not.toBe(0);
    expect(
      judged(
        GITLAB,
        componentJob((text) => text.replace('junit:', 'junitt:')),
      ),
    ).not.toBe(0);
  });

  /** The job that GitLab makes of the component; its schema knows no second document. */
  function componentJob(change: (text: string) => string): string {
    const [, job = ''] = readFileSync('templates/check.yml', 'utf8').split('\n---\n');
    const file = join(folderWithSpace(), 'job.yml');
    const filled = job.replace('$[[ inputs.job ]]', 'lossproof').replaceAll(/\$\[\[ inputs\.\w+ \]\]/g, 'x');
    writeFileSync(file, change(filled));
    return file;
  }

  test.each([
    ['github-matrix.yml', GITHUB, 'runs-on:', 'run-on:'],
    ['github-matrix.yml', GITHUB, 'fail-fast: false', 'fail-fast: [no]'],
    ['github-matrix.yml', GITHUB, 'needs: part', 'need: part'],
    ['gitlab-parallel.yml', GITLAB, 'parallel: 8', 'parallel: some'],
    ['gitlab-parallel.yml', GITLAB, 'when: always', 'when: ever'],
    ['gitlab-parallel.yml', GITLAB, 'junit:', 'junitt:'],
    ['kubernetes.yaml', KUBERNETES, 'completions: 8', 'completions: eight'],
    ['kubernetes.yaml', KUBERNETES, 'backoffLimitPerIndex:', 'backoffLimitPerIndx:'],
    ['kubernetes.yaml', KUBERNETES, 'claimName:', 'claim:'],
    ['kubernetes.yaml', KUBERNETES, "value: '8'", 'value: 8'],
  ])('%s with a mistake in it is refused', (name, reader, right, wrong) => {
    const text = fileOf(name);
    expect(text).toContain(right);
    const copy = join(folderWithSpace(), name);
    writeFileSync(copy, text.replace(right, wrong));
    expect(judged(reader, copy)).not.toBe(0);
  });
});

/** The documents of a file, read by a YAML of its own. */
function documentsOf(text: string): readonly unknown[] {
  const program =
    "import json, sys; from ruamel.yaml import YAML; print(json.dumps(list(YAML(typ='safe').load_all(sys.stdin))))";
  const { stdout, stderr } = spawnSync(join(BIN, 'python'), ['-c', program], {
    input: text,
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as readonly unknown[];
}

type Environment = Readonly<Record<string, string>>;

/** What a job does: its shell, its lines, and what the file itself puts into its environment. */
interface Job {
  readonly shell: readonly string[];
  readonly lines: string;
  readonly env: Environment;
}

interface Files {
  /** Of part `part` of two, in a folder. */
  part(part: number, folder: string): Job;
  merge(folder: string): Job;
  /** Where part `part` writes its events. */
  events(part: number, folder: string): string;
}

/** Above the largest seed: the number of a run of GitHub is long since. */
const RUN = '12345678901';

interface Step {
  readonly name?: string;
  readonly run?: string;
  readonly env?: Environment;
}

function github(): Files {
  const [file] = documentsOf(fileOf('github-matrix.yml')) as readonly {
    readonly env: Environment;
    readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
  }[];
  const job = (name: string, part: string): Job => {
    const step = file?.jobs[name]?.steps.find(({ run }) => run?.includes('npx lossproof'));
    const env = { ...file?.env, ...step?.env, PARTS: '2', GITHUB_RUN_ID: RUN };
    const filled = Object.entries(env).map(([key, value]) => [
      key,
      value.replaceAll(/\$\{\{ matrix\.part \}\}/g, part),
    ]);
    return { shell: ['bash', '-e', '-c'], lines: step?.run ?? '', env: Object.fromEntries(filled) };
  };
  return {
    part: (part) => job('part', String(part)),
    merge: () => job('merge', ''),
    events: (part, folder) => join(folder, 'parts', `${part}.ndjson`),
  };
}

function gitlab(): Files {
  const [file] = documentsOf(fileOf('gitlab-parallel.yml')) as readonly Readonly<
    Record<string, { readonly script: readonly string[] }>
  >[];
  const job = (name: string, env: Environment): Job => ({
    shell: ['bash', '-eo', 'pipefail', '-c'],
    lines: file?.[name]?.script.join('\n') ?? '',
    env: { ...env, CI_PIPELINE_ID: RUN },
  });
  return {
    part: (part) => job('lossproof', { CI_NODE_INDEX: String(part), CI_NODE_TOTAL: '2' }),
    merge: () => job('lossproof-verdict', {}),
    events: (part, folder) => join(folder, 'parts', `${part}.ndjson`),
  };
}

interface PodJob {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly command: readonly string[];
          readonly args: readonly string[];
          readonly env: readonly { readonly name: string; readonly value: string }[];
        }[];
      };
    };
  };
}

function kubernetes(): Files {
  const documents = documentsOf(
    fileOf('kubernetes.yaml').replaceAll('runid', '1763892000'),
  ) as readonly PodJob[];
  const job = (name: string, folder: string, more: Environment): Job => {
    const found = documents.find((each) => each.kind === 'Job' && each.metadata.name.startsWith(name));
    const container = found?.spec.template.spec.containers[0];
    const env = Object.fromEntries((container?.env ?? []).map((each) => [each.name, each.value]));
    return {
      shell: container?.command ?? [],
      lines: container?.args.join('') ?? '',
      env: { ...env, PARTS: '2', SHARED: join(folder, 'shared claim'), ...more },
    };
  };
  return {
    part: (part, folder) => job('lossproof-check', folder, { JOB_COMPLETION_INDEX: String(part - 1) }),
    merge: (folder) => job('lossproof-merge', folder, { PATIENCE: '0' }),
    events: (part, folder) => join(folder, 'shared claim', '1763892000', `${part}.ndjson`),
  };
}

/** A checkout of a user's: a configuration, and an `npx` that starts this very lossproof. */
function checkout(trainer: string): string {
  const folder = folderWithSpace();
  writeFileSync(
    join(folder, 'lossproof.config.json'),
    JSON.stringify({ trainer: `python3 -m lossproof.examples.${trainer}`, only: 'mask', cases: 5 }),
  );
  const loader = resolve('node_modules/jiti/lib/jiti-register.mjs');
  const main = resolve('src/cli/main.ts');
  mkdirSync(join(folder, 'bin'));
  const npx = join(folder, 'bin', 'npx');
  writeFileSync(
    npx,
    `#!/bin/sh\n[ "$1" = lossproof ] || exit 64\nshift\nexec '${process.execPath}' --import '${loader}' '${main}' "$@"\n`,
  );
  chmodSync(npx, 0o755);
  return folder;
}

interface Ended {
  readonly code: number | null;
  readonly both: string;
}

function run({ shell: [program = '', ...words], lines, env }: Job, folder: string): Ended {
  expect(lines).toContain('npx lossproof');
  const { PATH = '', HOME } = process.env;
  const ended = spawnSync(program, [...words, lines], {
    cwd: folder,
    // Nothing of this process: the annotations of a job are written where GitHub says that it is one.
    env: { HOME, ...env, PATH: [join(folder, 'bin'), PATH].join(delimiter) },
    encoding: 'utf8',
  });
  return { code: ended.status, both: ended.stdout + ended.stderr };
}

describe.each([
  ['github-matrix.yml', github],
  ['gitlab-parallel.yml', gitlab],
  ['kubernetes.yaml', kubernetes],
] as const)('the lines of %s', (_, read) => {
  test('judge two parts, and make one verdict of them', () => {
    const files = read();
    const folder = checkout('left_padded');
    for (const part of [1, 2]) {
      const { code, both } = run(files.part(part, folder), folder);
      expect(both).toContain(`part ${part} of 2`);
      expect(code, both).toBe(0);
    }
    const merged = run(files.merge(folder), folder);
    expect(merged.both).toContain('of 2 parts');
    expect(merged.code, merged.both).toBe(0);
  });

  test('a part that fails has done its work, and the verdict fails', () => {
    const files = read();
    const folder = checkout('faulty mask-for-right-padding');
    for (const part of [1, 2]) {
      const { code, both } = run(files.part(part, folder), folder);
      expect(code, both).toBe(0);
    }
    const merged = run(files.merge(folder), folder);
    expect(merged.both).toMatch(/\d fail/);
    expect(merged.code, merged.both).toBe(1);
  });

  test('a trainer that does not start is no verdict, and neither is what is missing then', () => {
    const files = read();
    const folder = checkout('left_padded');
    expect(run(files.part(2, folder), folder).code).toBe(0);
    writeFileSync(
      join(folder, 'lossproof.config.json'),
      JSON.stringify({ trainer: 'python3 -m no_such_module' }),
    );
    const broken = run(files.part(1, folder), folder);
    expect(broken.code, broken.both).not.toBe(0);
    const merged = run(files.merge(folder), folder);
    expect(merged.both).toContain('part 1 of 2 is missing');
    expect(merged.code, merged.both).toBe(2);
  });
});

test('a pod that was killed goes on where it was, in spite of the lock that it left', () => {
  const files = kubernetes();
  const folder = checkout('left_padded');
  for (const part of [1, 2]) expect(run(files.part(part, folder), folder).code).toBe(0);
  const events = files.events(1, folder);
  const lines = readFileSync(events, 'utf8').trimEnd().split('\n');
  const judged = lines.filter((line) => line.includes('"property-end"')).length;
  expect(judged).toBeGreaterThan(2);
  // All but the last result and the end; the last line is torn.
  writeFileSync(events, lines.slice(0, -2).join('\n') + lines.at(-2)?.slice(0, 30));
  // Its successor has the same name and, as likely as not, the same numbers of processes.
  writeFileSync(
    `${events}.lock`,
    JSON.stringify({ pid: process.pid, host: spawnSync('hostname').stdout.toString().trim() }),
  );
  const again = run(files.part(1, folder), folder);
  expect(again.both).toContain('going on with the run in');
  expect(again.code, again.both).toBe(0);
  const merged = run(files.merge(folder), folder);
  expect(merged.code, merged.both).toBe(0);
});

// The Python half of the house: no circle of files, no arrow against the order of the folders, and what a process that is
// traced pays for before it has imported torch. `imports.py` finds the arrows, those inside of functions too.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ADAPTERS } from '../../src/cli/trainer/adapters.ts';

interface Arrow {
  readonly from: string;
  readonly line: number;
  readonly to: string;
}
interface Imports {
  readonly modules: Readonly<Record<string, string>>;
  readonly imports: readonly Arrow[];
}

const PACKAGES = fileURLToPath(new URL('../../src/python', import.meta.url));
const SCRIPT = fileURLToPath(new URL('imports.py', import.meta.url));
const TRACER = 'lossproof_trace';
/** Each may import those before it. */
const TRACER_FOLDERS = [
  'recording',
  'workers',
  'gradient',
  'models',
  'forward',
  'script',
  'sampling',
  'steps',
  'twins',
];

/** Floor: floors it may import beside itself. A file is on the floor with the longest name that begins its own. */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  // Examples and adapters are users of the SDK, and not of each other.
  lossproof: [],
  'lossproof.callback': ['lossproof', 'lossproof_monitor'],
  // The command, and whoever starts the engine from Python; the command imports nothing of what a trainer imports.
  lossproof_door: ['lossproof'],
  'lossproof.__main__': ['lossproof_door'],
  // Their names for users; what they need is behind the door.
  'lossproof.pytest': ['lossproof_door'],
  'lossproof.notebook': ['lossproof', 'lossproof_door'],
  lossproof_monitor: ['lossproof_door'],
  lossproof_ray: [],
  // It knows the model folder and nothing of us.
  lossproof_gap: [],
  // The same of a trainer's configuration.
  lossproof_view: [],
  // It changes a process in which the adapter has imported the SDK, and takes over where that would begin to answer.
  lossproof_mutate: ['lossproof'],
  'lossproof_mutate.bootstrap': ['lossproof_mutate'],
  lossproof_discover: ['lossproof', 'lossproof.testing'],
  'lossproof.examples': ['lossproof'],
  'lossproof.adapters': ['lossproof'],
  ...Object.fromEntries(
    Object.values(ADAPTERS).map(({ folder }) => [
      `lossproof.adapters.${folder}`,
      ['lossproof', 'lossproof.testing', 'lossproof.adapters.common'],
    ]),
  ),
  'lossproof.adapters.common': ['lossproof', 'lossproof.testing'],
  // What adapters are built with; `lossproof` does not import it, so that an adapter that needs none of it pays nothing.
  'lossproof.testing': ['lossproof'],
  // The tracer knows nothing of the others: importing the SDK takes standard output.
  ...Object.fromEntries(
    TRACER_FOLDERS.map((folder, i) => [
      `${TRACER}.${folder}`,
      TRACER_FOLDERS.slice(0, i).map((lower) => `${TRACER}.${lower}`),
    ]),
  ),
  [TRACER]: TRACER_FOLDERS.map((folder) => `${TRACER}.${folder}`),
  [`${TRACER}.bootstrap`]: [TRACER],
};

async function importsBelow(folder: string): Promise<Imports> {
  const { stdout } = await execa('python3', [SCRIPT, folder]);
  return JSON.parse(stdout) as Imports;
}

function floorOf(module: string): string | undefined {
  return Object.keys(FLOORS)
    .filter((floor) => module === floor || module.startsWith(`${floor}.`))
    .sort((a, b) => b.length - a.length)[0];
}

const told = ({ from, line, to }: Arrow): string => `${from}:${line} imports ${to}`;

/** The arrows on circles, and those between two circles: what is left when no file is imported by none or imports none. */
function circles({ modules, imports }: Imports): string[] {
  let left = imports.filter(({ from, to }) => to in modules && from !== to);
  for (;;) {
    const importing = new Set(left.map(({ from }) => from));
    const wanted = new Set(left.map(({ to }) => to));
    const next = left.filter(({ from, to }) => wanted.has(from) && importing.has(to));
    if (next.length === left.length) return left.map(told);
    left = next;
  }
}

function planted(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe('the packages', () => {
  let found: Imports;
  beforeAll(async () => {
    found = await importsBelow(PACKAGES);
  });

  test('no circle of files', () => {
    expect(Object.keys(found.modules).length).toBeGreaterThan(80);
    expect(circles(found)).toEqual([]);
  });

  test('every folder imports only floors below it', () => {
    const against = found.imports.filter(({ from, to }) => {
      const [above = '', below] = [floorOf(from), floorOf(to)];
      return below !== undefined && above !== below && !FLOORS[above]?.includes(below);
    });
    expect(against.map(told)).toEqual([]);
  });

  test('whatever is imported of ours is there', () => {
    const missing = found.imports.filter(({ to }) => floorOf(to) !== undefined && !(to in found.modules));
    expect(missing.map(told)).toEqual([]);
  });

  test("the tracer's folders are those that its docstring puts in order", () => {
    const folders = readdirSync(join(PACKAGES, TRACER), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== '__pycache__' && entry.name !== 'bootstrap')
      .map(({ name }) => name);
    expect(folders.sort()).toEqual([...TRACER_FOLDERS].sort());
    const docstring = readFileSync(join(PACKAGES, TRACER, '__init__.py'), 'utf8').replaceAll(/\s+/g, ' ');
    expect(docstring).toContain(`none behind it: ${TRACER_FOLDERS.join(', ')}.`);
  });

  test('a process that is traced pays for the recording alone until it imports torch', async () => {
    const loaded = `import json, sys; print(json.dumps([name for name in sys.modules if name.split(".")[0] in ("${TRACER}", "torch")]))`;
    const { stdout } = await execa('python3', ['-c', loaded], {
      env: { PYTHONPATH: join(PACKAGES, TRACER, 'bootstrap'), LOSSPROOF_TRACE: planted({}) },
    });
    expect((JSON.parse(stdout) as string[]).sort()).toEqual([
      TRACER,
      `${TRACER}._arm`,
      `${TRACER}.recording`,
      `${TRACER}.recording._devices`,
      `${TRACER}.recording._ending`,
      `${TRACER}.recording._session`,
      `${TRACER}.recording._writer`,
    ]);
  });
});

describe('a circle is seen', () => {
  test.each([
    ['at the top of two files', 'from . import b\n', 'import p.a\n'],
    ['inside of a function', 'from .b import x\n', 'def f():\n    from .a import y\n'],
    [
      'for the type checker alone',
      'from .b import x\n',
      'from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import y\n',
    ],
  ])('%s', async (_, a, b) => {
    const folder = planted({ 'p/__init__.py': 'from . import a\n', 'p/a.py': a, 'p/b.py': b, 'p/c.py': '' });
    const arrows = circles(await importsBelow(folder));
    expect(arrows.map((arrow) => arrow.replace(/:\d+/, ''))).toEqual(['p.a imports p.b', 'p.b imports p.a']);
  });

  test('through three folders, and by a name that a package has', async () => {
    const folder = planted({
      'p/__init__.py': '',
      'p/one/__init__.py': 'from .a import x\n',
      'p/one/a.py': 'from ..two.b import x\n',
      'p/two/b.py': 'from ..three import c\n',
      'p/three/c.py': 'from ..one import x\n',
    });
    expect(circles(await importsBelow(folder))).toHaveLength(4);
  });

  test('and none where there is none: siblings that their package imports', async () => {
    const folder = planted({
      'p/__init__.py': 'from .a import x\nfrom . import b\n',
      'p/a.py': 'from . import b\nimport os\n',
      'p/b.py': '',
    });
    expect(circles(await importsBelow(folder))).toEqual([]);
  });
});

// Files that cannot be imported whole: what runs of them is looked at, what does not is said, and a wrong function is not taken for a
// right one because of it.
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { makeWorld, type World } from '../world.ts';
import { ownTemporaryFolder } from './left-behind.ts';

beforeEach(ownTemporaryFolder);

const K3 = `

def k3(logprob, ref_logprob):
    d = ref_logprob - logprob
    return math.exp(d) - d - 1
`;

interface Files {
  readonly [file: string]: string;
}

/** What stands in the way, and what is said of it; null: no more than a name is missing. */
const IN_THE_WAY: readonly (readonly [what: string, said: RegExp | null, files: Files])[] = [
  [
    'a command line that is parsed',
    /exits the process \(code 2\)/,
    {
      'train.py': `import argparse\nimport math\n\nparser = argparse.ArgumentParser()\nparser.add_argument("--model", required=True)\nargs = parser.parse_args()\n${K3}\n\nfor step in range(args.steps):\n    print(step)\n`,
    },
  ],
  [
    'a package that looks up the version of one that is not there',
    /__init__\.py:3 PackageNotFoundError/,
    {
      'pk/__init__.py': `import importlib.metadata\n\nif importlib.metadata.version("ray_of_nobody") < "2.9":\n    raise ImportError("too old")\nfrom .losses import k3\n`,
      'pk/losses.py': `import math\n${K3}`,
    },
  ],
  [
    'a launcher that is asked for',
    /AssertionError: start it with torchrun; train\.py:5 KeyError/,
    {
      'train.py': `import math\nimport os\n\nassert os.environ.get("WORLD_OF_NOBODY"), "start it with torchrun"\nRANK = int(os.environ["RANK_OF_NOBODY"])\n${K3}`,
    },
  ],
  [
    'a class of a stub with a metaclass of its own',
    /metaclass conflict/,
    {
      'workers.py': `import math\n\nfrom vllm_of_nobody import Worker\n\n\nclass M(type):\n    pass\n\n\nclass Mine(Worker, metaclass=M):\n    pass\n${K3}`,
    },
  ],
  [
    'a compiled part that was not built',
    null,
    {
      'pk/__init__.py': '',
      'pk/kernels.py': 'from . import _C\n\nfused = _C.fused\n',
      'pk/losses.py': `import math\n\nfrom pk.kernels import fused\n${K3}`,
    },
  ],
  [
    'a name that an installed package has no more, and annotations that nobody evaluates',
    null,
    {
      'train.py': `from __future__ import annotations\n\nimport math\nfrom json import dump_of_nobody\n${K3.replace('(logprob, ref_logprob)', '(logprob: Gone, ref_logprob: Gone)')}`,
    },
  ],
];

async function discovered(world: World, files: Files, ...words: readonly string[]): Promise<number> {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(world.folder, dirname(file)), { recursive: true });
    world.write(file, text);
  }
  const all = Object.keys(files);
  return await world.run('discover', ...all, '--only', 'kl', '--python', 'python3', ...words);
}

const flat = (world: World): string => world.out().replaceAll(/\s+/g, ' ');

describe.each(IN_THE_WAY)('%s', (_, said, files) => {
  test('is no reason not to call a function beside it, and its adapter runs', async () => {
    const world = makeWorld(properties);
    expect(await discovered(world, files, '--write', 'adapter.py'), world.both()).toBe(0);
    expect(flat(world)).toMatch(/✓ kl +k3\(logprobs, ref_logprobs\)/);
    if (said === null) expect(flat(world)).not.toContain('Imported in part');
    else expect(flat(world)).toMatch(said);
    const check = ['check', '--cases', '5', '--no-corpus', '--', 'python3', 'adapter.py'];
    expect(await world.run(...check), world.both()).toBe(0);
  });

  test('does not make a wrong function a right one', async () => {
    const world = makeWorld(properties);
    const wrong = Object.entries(files).map(([file, text]) => [
      file,
      text.replace('ref_logprob - logprob', 'logprob - ref_logprob'),
    ]);
    expect(await discovered(world, Object.fromEntries(wrong)), world.both()).toBe(1);
    expect(flat(world)).toContain('if policy and reference are swapped');
  });
});

test('a function whose decorator cannot be had is not called without it', async () => {
  const world = makeWorld(properties);
  const files = {
    'train.py': `import math\n\nFACTOR = float(open("factor.txt").read())\n\n\ndef scaled(function):\n    return lambda *given: FACTOR * function(*given)\n\n\n@scaled\n${K3.trim()}\n\n\n@scaled.by(FACTOR)\ndef k2(logprob, ref_logprob):\n    return 0.5 * (logprob - ref_logprob) ** 2\n`,
  };
  expect(await discovered(world, files), world.both()).toBe(2);
  expect(flat(world)).toMatch(/its definition could not be run: k2 train\.py:17/);
  expect(flat(world)).toContain("NameError: name 'FACTOR' is not defined");
});

test('a file of which nothing runs is named with what it raised', async () => {
  const world = makeWorld(properties);
  const files = {
    'train.py': `raise RuntimeError("not here")\n\n\n@nobody\ndef k3(a, b):\n    return a - b\n`,
  };
  expect(await discovered(world, files)).toBe(2);
  expect(flat(world)).toContain('its file cannot be imported: RuntimeError: not here');
});

describe('a package that is stubbed as a version of it', () => {
  const files = {
    'train.py': `import math\n\nimport ray_of_nobody\n\nif tuple(int(x) for x in ray_of_nobody.__version__.split(".")[:2]) < (2, 9):\n    raise RuntimeError("this is " + ray_of_nobody.__version__)\n${K3}`,
  };

  test('passes for it, in the adapter as well', async () => {
    const world = makeWorld(properties);
    expect(await discovered(world, files, '--stub', 'ray_of_nobody=2.40', '--write', 'adapter.py')).toBe(0);
    expect(flat(world)).not.toContain('Imported in part');
    expect(readFileSync(join(world.folder, 'adapter.py'), 'utf8')).toContain(
      'with stub({"ray_of_nobody": "2.40"}, always=True):\n    import train\n',
    );
    const check = ['check', '--cases', '5', '--no-corpus', '--', 'python3', 'adapter.py'];
    expect(await world.run(...check), world.both()).toBe(0);
  });

  test('is too old where no version is said, which is said', async () => {
    const world = makeWorld(properties);
    expect(await discovered(world, files)).toBe(0);
    expect(flat(world)).toContain('RuntimeError: this is 0.0.0');
  });

  test('stands in for an installed one, too', async () => {
    const world = makeWorld(properties);
    const own = {
      'train.py': `import math\nimport tomllib_of_nobody\nimport json\n\nassert json.__version__ == "7.1"\n${K3}`,
    };
    expect(await discovered(world, own, '--stub', 'json=7.1')).toBe(0);
    expect(flat(world)).not.toContain('Imported in part');
  });

  test('has a name and a version', async () => {
    const world = makeWorld(properties);
    expect(await discovered(world, files, '--stub', 'ray==2.40=1')).toBe(2);
    expect(world.err()).toContain('--stub: "ray==2.40=1" is not NAME=VERSION');
  });
});

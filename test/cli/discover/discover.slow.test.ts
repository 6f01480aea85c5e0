// `discover` on whole trainers in plain Python, and on code that does what it may not: dozens of processes each.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../world.ts';
import { EXAMPLE, found } from './found.ts';
import { foldersOfDiscover, ownTemporaryFolder } from './left-behind.ts';

beforeEach(ownTemporaryFolder);

const BAD = fileURLToPath(new URL('bad', import.meta.url));

/** Since Linux 5.13, and not in every container. */
const HAS_LANDLOCK =
  process.platform === 'linux' &&
  spawnSync('python3', [
    '-c',
    'import ctypes; raise SystemExit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 1)',
  ]).status === 0;

describe('a trainer of functions', () => {
  test('is bound, written as an adapter that runs, and never written over', async () => {
    const world = makeWorld(properties);
    mkdirSync(join(world.folder, 'my code'));
    copyFileSync(EXAMPLE, join(world.folder, 'my code', 'my_trainer.py'));
    const words = ['my code', '--python', 'python3', '--write', 'adapter.py'];
    expect(await world.run('discover', ...words)).toBe(0);
    const out = world.out();
    expect(out).toContain('discover runs the code of my code/my_trainer.py (3 functions)');
    expect(out).toMatch(/✓ mask +build_batch\(prompt_ids, completion_ids, pad_token_id\)/);
    expect(out).toMatch(/✓ kl +k3\(logprobs, ref_logprobs\)[^\n]*\n +k3\n/);
    expect(out).toMatch(
      /✓ advantages +group_advantages\(rewards\)[^\n]*\n +group-mean, scaling group, ddof 1, epsilon 0.0001/,
    );
    expect(out).toContain('3 functions: 3 bound');
    const written = readFileSync(join(world.folder, 'adapter.py'), 'utf8');
    expect(written).toContain(
      'sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "my code"))',
    );

    expect(await world.run('check', '--cases', '10', '--no-corpus', '--', 'python3', 'adapter.py')).toBe(0);
    expect(await world.run('discover', ...words)).toBe(2);
    expect(world.err()).toContain('adapter.py is already here; --force writes over it');
    expect(foldersOfDiscover()).toEqual([]);
  });

  test('a word that was picked for a mode stands in the call, and what is declared is the protocol’s own word for it', async () => {
    const world = makeWorld(properties);
    const modes = [
      'from math import exp',
      '',
      'def kl_penalty(logprob, ref_logprob, kl_penalty):',
      '    if kl_penalty == "mse":',
      '        return 0.5 * (logprob - ref_logprob) ** 2',
      '    if kl_penalty == "low_var_kl":',
      '        return exp(ref_logprob - logprob) - (ref_logprob - logprob) - 1',
      '    raise NotImplementedError(kl_penalty)',
    ];
    world.write('modes.py', `${modes.join('\n')}\n`);
    const words = ['modes.py', '--python', 'python3', '--only', 'kl', '--write', 'adapter.py'];
    expect(await world.run('discover', ...words), world.both()).toBe(0);
    const adapter = readFileSync(join(world.folder, 'adapter.py'), 'utf8');
    const [answered = '', declared = ''] = adapter.split('lossproof.serve(');
    expect(answered).toMatch(/modes\.kl_penalty\(\w+, \w+, 'low_var_kl'\)/);
    expect(answered).toContain("# Assumed: kl_penalty='low_var_kl'.");
    expect(answered).toMatch(/# As well: .*'mse'.* \(k2\)/);
    expect(declared).toContain('"kl_estimator": "k3"');
    expect(declared).not.toMatch(/low_var_kl|mse/);
    // Read as what any trainer declares is: a word that is none would be refused at hello.
    const check = ['check', '--cases', '10', '--no-corpus', '--only', 'kl/equals-the-estimator'];
    expect(await world.run(...check, '--', 'python3', 'adapter.py'), world.both()).toBe(0);
    world.write('adapter.py', adapter.replace('"kl_estimator": "k3"', '"kl_estimator": "low_var_kl"'));
    expect(await world.run(...check, '--', 'python3', 'adapter.py')).toBe(2);
  });

  test('is an adapter and a configuration by one command', async () => {
    const world = makeWorld(properties);
    copyFileSync(EXAMPLE, join(world.folder, 'trainer.py'));
    expect(await world.run('init', '--from', 'trainer.py', '--python', 'python3')).toBe(0);
    expect(world.out()).toContain('wrote adapter.py and lossproof.config.json');
    expect(await world.run('check', '--cases', '10', '--no-corpus')).toBe(0);
    expect(await world.run('init', '--from', 'trainer.py')).toBe(2);
  });

  test('is told by behaviour where names say nothing, and left open where behaviour does not say either', async () => {
    const world = makeWorld(properties);
    world.write(
      'obscure.py',
      'import math\n\n\ndef f(a, b):\n    return math.exp(a - b) - (a - b) - 1\n\n\ndef g(a, b):\n    return b - a\n',
    );
    const { bound } = await found(world, 'obscure.py', '--only', 'kl');
    expect(bound.map(({ call }) => call)).toEqual(['obscure.f(ref_logprobs, logprobs)']);
  });
});

describe('code that does what it may not', () => {
  const WHY: Readonly<Record<string, RegExp>> = {
    'connects.py': /opens a socket/,
    'crashes.py': /ended the process \(SIGSEGV\)/,
    'databases.py': /writes to a file outside/,
    'dies.py': /ended the process \(exit code 3\)/,
    'does_not_import.py': /cannot be imported: RuntimeError: this file is not to be imported/,
    'eats_memory.py': /wants more memory than it may have/,
    'exits.py': /exits the process/,
    'forks.py': /forks/,
    'gone_for_a_while.py': /did not return/,
    'never_returns.py': /did not return/,
    'removes.py': /changes a file outside/,
    'shm.py': /writes to a file outside/,
    'spawns.py': /starts a process/,
    'starts.py': /starts a process/,
    'swallows.py': /did not return/,
    'writes.py': /writes to a file outside/,
  };

  test('is named, one line each, and leaves nothing behind', async () => {
    const world = makeWorld(properties);
    const before = readdirSync(BAD).sort();
    const { bound, uncalled, files, printing } = await found(world, BAD, '--only', 'kl', '--memory', '4');
    // What prints does not disturb, and is said.
    expect(bound.map(({ file }) => file.split('/').at(-1))).toEqual(['prints.py']);
    expect(printing.map(({ file }) => file.split('/').at(-1))).toEqual(['prints.py']);
    const why = new Map(uncalled.map((each) => [each.file.split('/').at(-1) ?? '', each.why]));
    for (const [file, pattern] of Object.entries(WHY)) expect(why.get(file), file).toMatch(pattern);
    expect(files.filter(({ problem }) => problem !== undefined)).toEqual([
      {
        file: join(BAD, 'does_not_parse.py'),
        functions: 0,
        problem: expect.stringMatching(/^it does not parse: line 1: /),
      },
    ]);
    expect(
      readdirSync(BAD)
        .filter((name) => name !== '__pycache__')
        .sort(),
    ).toEqual(before);
    expect(foldersOfDiscover()).toEqual([]);
  });

  test.skipIf(!HAS_LANDLOCK)('reaches no file by C code either, where the system can tell', async () => {
    const world = makeWorld(properties);
    // No audit event tells of these.
    const writes = {
      fifo: 'import os\nBELOW = os.path.dirname(os.path.abspath(__file__))\n\n\ndef k3(logprobs, ref_logprobs):\n    os.mkfifo(os.path.join(BELOW, "left"))\n    return logprobs\n',
      opens:
        'import ctypes\nimport os\nBELOW = os.path.dirname(os.path.abspath(__file__))\n\n\ndef k3(logprobs, ref_logprobs):\n    if ctypes.CDLL(None).creat(os.path.join(BELOW, "left").encode(), 0o600) < 0:\n        raise OSError("not here")\n    return logprobs\n',
      starts:
        'import ctypes\nimport os\nBELOW = os.path.dirname(os.path.abspath(__file__))\n\n\ndef k3(logprobs, ref_logprobs):\n    if ctypes.CDLL(None).system(("touch " + repr(os.path.join(BELOW, "left"))).encode()) != 0:\n        raise OSError("not here")\n    return logprobs\n',
      inside:
        'import math\nimport os\n\n\ndef k3(logprobs, ref_logprobs):\n    if not os.path.exists("own"):\n        os.mkfifo("own")\n    return [[math.expm1(r - p) - (r - p) for p, r in zip(*rows)] for rows in zip(logprobs, ref_logprobs)]\n',
    };
    for (const [name, text] of Object.entries(writes)) world.write(`${name}.py`, text);
    const { bound, uncalled } = await found(world, '.', '--only', 'kl');
    expect(bound.map(({ file }) => file)).toEqual([join(world.folder, 'inside.py')]);
    expect(uncalled.map(({ file, why }) => [file.split('/').at(-1), why])).toEqual([
      ['fifo.py', expect.stringContaining('Permission denied')],
      ['opens.py', 'OSError: not here'],
      ['starts.py', 'OSError: not here'],
    ]);
    expect(readdirSync(world.folder)).not.toContain('left');
    expect(world.err()).not.toContain('C code');
  });

  test('is told at the beginning what is not guarded, where the system cannot', () => {
    const world = makeWorld(properties);
    const asked = `import lossproof_discover._guard as guard\nguard.restricted = lambda _: False\nprint(guard.bound(${JSON.stringify(world.folder)}, 1 << 34, 100))`;
    const { stdout } = spawnSync('python3', ['-c', asked], {
      env: { ...process.env, PYTHONPATH: join(PACKAGE_ROOT, 'src', 'python') },
      encoding: 'utf8',
    });
    expect(stdout).toContain(
      'only Python code is kept to the folder, and not what C code writes: torch.save',
    );
  });

  test('is named in the table where it prints, whatever else is said of it, and not where it warns', async () => {
    const world = makeWorld(properties, { columns: 300 });
    const k3 = (words: string): string =>
      `import math\nimport sys\n\n\ndef k3(logprobs, ref_logprobs):\n    ${words}\n    return [[math.expm1(r - p) - (r - p) for p, r in zip(*rows)] for rows in zip(logprobs, ref_logprobs)]\n`;
    world.write('silent.py', `print("imported")\n${k3('pass')}`);
    world.write('warns.py', k3('sys.stderr.write("careful")'));
    world.write('prints.py', k3('print("x")'));
    world.write('raises.py', k3('print("x"); raise ValueError("no")'));
    world.write('exits.py', k3('print("x"); sys.exit(3)'));
    world.write('closes.py', k3('print("x"); sys.stdout.close()'));
    await world.run('discover', '.', '--python', 'python3', '--only', 'kl');
    expect(world.out()).toMatch(
      /\nPrints when it is called\n– k3 (closes|exits|prints|raises)\.py:5(, k3 (closes|exits|prints|raises)\.py:5){3}\n/,
    );
    // What one closes is open to the next.
    expect(world.out().match(/✓ kl /g)).toHaveLength(3);
  });

  test('is named in the table where its file needs a GPU when it is imported', async () => {
    const world = makeWorld(properties, { columns: 300 });
    world.write(
      'needs.py',
      `raise RuntimeError("Found no NVIDIA driver on your system.")\n\n\ndef k3(a, b):\n    return a\n`,
    );
    await world.run('discover', '.', '--python', 'python3', '--only', 'kl');
    expect(world.out()).toContain('– needs.py, without needs.py:1 RuntimeError: Found no NVIDIA driver');
  });

  test('is imported also where the project says in words of its own that a package is missing', async () => {
    const world = makeWorld(properties);
    mkdirSync(join(world.folder, 'project'));
    world.write(
      'project/__init__.py',
      `try:
    import quantum_kernels
except ImportError as missing:
    raise ImportError("quantum_kernels is not installed, see our page") from missing
`,
    );
    world.write('project/code.py', readFileSync(EXAMPLE, 'utf8'));
    const { bound, uncalled } = await found(world, 'project', '--only', 'kl');
    expect(uncalled).toEqual([]);
    expect(bound).toMatchObject([{ function: 'k3', op: 'kl' }]);
  });

  test('is told by its file where many functions share what is wrong', async () => {
    const world = makeWorld(properties, { columns: 300 });
    const functions = Array.from({ length: 20 }, (_, at) => `@nobody\ndef kl_${at}(a, b):\n    return a\n`);
    world.write('large.py', `raise RuntimeError("not today")\n\n\n${functions.join('\n\n')}`);
    await world.run('discover', '.', '--python', 'python3', '--only', 'kl');
    expect(world.out()).toContain('RuntimeError: not today: 20 functions of large.py');
  });

  test('Ctrl-C tells what was found', async () => {
    const world = makeWorld(properties, {
      isTty: true,
      // The first function has had its turn.
      onWrite: (both, { interrupt }) => {
        if (both.includes('1 of 3 functions') && !both.includes('^C')) interrupt();
      },
    });
    world.write('trainer.py', readFileSync(EXAMPLE, 'utf8'));
    const words = ['trainer.py', '--python', 'python3', '--write', 'adapter.py'];
    expect(await world.run('discover', ...words)).toBe(130);
    expect(world.out()).toMatch(/✓[^\n]* (mask|kl|advantages) /);
    expect(world.out()).toMatch(/3 functions: 1 bound, .* 2 had no turn/);
    // What was found is written as well, and says no more than that.
    expect(readFileSync(join(world.folder, 'adapter.py'), 'utf8').match(/@lossproof.op/g)).toHaveLength(1);
    expect(foldersOfDiscover()).toEqual([]);
  });
});

describe('init --from, where several functions answer an op', () => {
  const TWO =
    'import math\n\n\ndef kl_k3(logprob, ref_logprob):\n    x = ref_logprob - logprob\n    return math.exp(x) - x - 1\n\n\ndef kl_k2(logprob, ref_logprob):\n    return 0.5 * (ref_logprob - logprob) ** 2\n';
  const words = ['init', '--from', 'trainer.py', '--python', 'python3'];

  test.each([
    { answers: ['2'], chosen: 2 },
    { answers: [''], chosen: 1 },
    { answers: ['seven', '2'], chosen: 2 },
    { answers: ['7', '0', 'x'], chosen: 1 },
  ])('asks, and $answers is number $chosen', async ({ answers, chosen }) => {
    const world = makeWorld(properties, { answers });
    world.write('trainer.py', TWO);
    expect(await world.run(...words)).toBe(0);
    expect(world.out()).toContain('Which one does your training call for `kl`?');
    expect(world.both().match(/number \[1 to 2, 1 if nothing\]: /g)).toHaveLength(answers.length);
    const names = [...world.out().matchAll(/^ +[12] {2}(\w+) /gm)].map(([, name]) => name);
    const adapter = readFileSync(join(world.folder, 'adapter.py'), 'utf8');
    expect(adapter).toContain(`trainer.${names[chosen - 1]}(`);
    expect(adapter).toContain('It could be ');
  });
});

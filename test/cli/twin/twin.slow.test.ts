// `twin` as it is typed: what agrees, where runs part, what it exits with, what is left behind. The script needs no torch; that
// the tracer makes the changes is tested on real trainers, in test/torch/twin.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runsOf, twin, twinWorld } from './twin.ts';

describe('a script that is right', () => {
  test('agrees with itself under every change that can be made, and names no other', async () => {
    const { code, out } = await twin([], '--fault arguments');
    expect(out).toContain('✓ repeat the same to the last bit, 2 steps');
    for (const change of ['batch-order', 'padding', 'accumulation']) expect(out).toContain(`✓ ${change} `);
    // Two processes need torch's launcher, which is not here.
    expect(out).toMatch(
      /· ranks not compared With the change the script failed \(exit code 1\): .*torch\.distributed\.run/,
    );
    expect(out).not.toContain('attention');
    expect(out).toContain('4 changes agree; not compared: ranks.');
    expect(code).toBe(0);
  });

  test.each([
    ['--with', '--batch 2 --accumulate 2', '✓ pair'],
    ['--with', '--batch 1 --accumulate 4', '✓ pair'],
    ['--steps', '3', '3 steps'],
  ])('agrees with %s %s', async (option, value, told) => {
    const { code, out } = await twin([option, value, '--change', 'repeat']);
    expect(out).toContain(told);
    expect(code).toBe(0);
  });

  test('agrees with a second command, and with a resumed run', async () => {
    const world = twinWorld();
    const words = ['python3', 'train.py', '--batch', '2', '--accumulate', '4'];
    expect(await world.run('twin', '--', ...words, '---', ...words.slice(0, 2), '--batch', '8')).toBe(0);
    const { code, out } = await twin([
      '--save-args',
      '--save ck.json --steps 3',
      '--resume-args',
      '--resume ck.json',
    ]);
    expect(out).toContain('✓ resume');
    expect(code).toBe(0);
  });

  test('may have dropout: where the order of draws changes, no run has any', async () => {
    const world = twinWorld();
    const { code } = await twin(['--change', 'repeat,padding'], '--fault dropout', world);
    expect(code).toBe(0);
    const [folder = ''] = runsOf(world);
    expect(readdirSync(folder).sort()).toEqual([
      'base',
      'base-rounding',
      'base-without-dropout',
      'base-without-dropout-rounding',
      'padding',
      'repeat',
    ]);
  });
});

test('what the tracer sees something to change for is changed; a precision only where it is named, as a size', async () => {
  const all = await twin([], '--fault wide');
  expect(all.out).toContain('✓ packing ');
  expect(all.out).not.toContain('precision');
  expect(all.code).toBe(0);
  const { code, out } = await twin(['--change', 'precision'], '--fault wide');
  expect(out).toMatch(/· precision bfloat16 moves the gradients of step 0 by about 1\.\d+ %/);
  expect(out).toContain('0 changes agree; measured: precision.');
  expect(code).toBe(0);
});

test('where runs part, the first difference is named, and the exit code is 1', async () => {
  const { code, out } = await twin(['--change', 'padding'], '--fault columns');
  expect(out).toContain('✗ padding the runs part In step 0 the probabilities agree');
  expect(out).toContain('the weights of the tokens in the loss do not: 17 of 17 tokens');
  expect(code).toBe(1);
});

describe('no verdict', () => {
  test.each([
    ['unseeded', 'The weights differ before the first step'],
    ['restless', 'trains other rows'],
  ])('a script that is %s: what differs, and nothing else is compared', async (fault, told) => {
    const { code, out } = await twin([], `--fault ${fault}`);
    expect(out).toContain(told);
    expect(out).toContain('the script is not the same twice');
    expect(out).not.toContain('batch-order');
    expect(code).toBe(2);
  });

  test('a change that was named and cannot be made', async () => {
    const { code, out } = await twin(['--change', 'accumulation,checkpointing,packing,merged,compile']);
    expect(out).toContain('· accumulation not compared The arguments are none of transformers or TRL');
    expect(out).toContain('· checkpointing not compared The model is none of transformers');
    expect(out).toContain(
      '· packing not compared No batch of a torch DataLoader has rows of several examples',
    );
    expect(out).toContain('· merged not compared The model has no LoRA adapters of PEFT');
    expect(out).toContain('· compile not compared The script calls nothing that torch.compile made.');
    expect(out).toContain('No verdict: nothing could be compared.');
    expect(code).toBe(2);
  });

  test('a script that fails, with the change alone or without', async () => {
    const alone = await twin(['--change', 'padding'], '--fault fails-wide');
    expect(alone.out).toContain(
      'With the change the script failed (exit code 1): RuntimeError: sizes do not match.',
    );
    expect(alone.code).toBe(2);
    const always = await twin([], '--fault fails');
    expect(always.out).toContain(
      'lossproof: the script failed by itself in the run base (exit code 1): RuntimeError: sizes do not match',
    );
    expect(always.code).toBe(2);
  });

  test.each([
    [['--change', 'pading'], 'there is no change "pading"'],
    [['--save-args', '--save x'], '--save-args and --resume-args belong together'],
    [['--with', '--batch 2'], '--with and a command after --- cannot be combined'],
  ])('%s', async (options, told) => {
    const world = twinWorld();
    const second = options[0] === '--with' ? ['---', 'python3', 'train.py'] : [];
    expect(await world.run('twin', ...options, '--', 'python3', 'train.py', ...second)).toBe(2);
    expect(world.err()).toContain(told);
  });

  test('no command, no such command', async () => {
    const world = twinWorld();
    expect(await world.run('twin')).toBe(2);
    expect(world.err()).toContain('write the command after --');
    expect(await world.run('twin', '--', 'nothing-of-this-name')).toBe(2);
    expect(world.err()).toContain('there is no command "nothing-of-this-name"');
  });
});

test('--json: each change with its outcome, and where the runs part', async () => {
  const world = twinWorld();
  const words = ['--batch', '4', '--fault', 'columns'];
  expect(
    await world.run('twin', '--json', '--change', 'repeat,padding', '--', 'python3', 'train.py', ...words),
  ).toBe(1);
  const { verdict, changes } = JSON.parse(world.out());
  expect(verdict).toBe('parts');
  expect(changes).toMatchObject([
    { change: 'repeat', outcome: 'agree', steps: 2, times_rounding: 0 },
    { change: 'padding', outcome: 'parts', step: 0, differs: 'weights' },
  ]);
});

test('--html: a page, also where the script is not the same twice', async () => {
  const world = twinWorld();
  const page = (): string => readFileSync(join(world.folder, 'twin.html'), 'utf8');
  expect((await twin(['--change', 'padding', '--html', 'twin.html'], '--fault columns', world)).code).toBe(1);
  expect(page()).toContain('padding changed what is trained.');
  expect(page()).toMatch(/weights of the tokens in the loss<\/th>.*<td class="o3 first">/);
  await twin(['--html', 'twin.html'], '--fault unseeded', world);
  expect(page()).toContain('The script is not the same twice');
  expect(page()).toContain('<td class="o3 first">');
});

test('--html: where it cannot be written, nothing is run', async () => {
  const world = twinWorld();
  const { code, out } = await twin(['--html', 'no/twin.html'], '', world);
  expect(out).toContain('lossproof: --html: no/twin.html cannot be written: there is no folder');
  expect(code).toBe(2);
  expect(existsSync(join(world.folder, '.lossproof'))).toBe(false);
});

test('Ctrl-C keeps what was recorded, and says where', async () => {
  const world = twinWorld({
    isTty: true,
    onWrite: (both, { interrupt }) => {
      if (both.endsWith('runs: base-rounding')) setTimeout(interrupt, 1);
    },
  });
  const { code, out } = await twin(['--html', 'twin.html'], '', world);
  expect(code).toBe(130);
  expect(readFileSync(join(world.folder, 'twin.html'), 'utf8')).toContain(
    'Interrupted; the recording so far',
  );
  expect(out).toContain('interrupted; the recording so far is in .lossproof/twin/');
  expect(existsSync(join(runsOf(world)[0] ?? '', 'base'))).toBe(true);
});

test("records are no part of the user's repository", async () => {
  const world = twinWorld();
  await twin(['--change', 'repeat'], '', world);
  expect(existsSync(join(world.folder, '.lossproof', 'twin', '.gitignore'))).toBe(true);
});

test('--json: a script that differs from itself has no verdict', async () => {
  const world = twinWorld();
  const words = ['--', 'python3', 'train.py', '--fault', 'unseeded'];
  expect(await world.run('twin', '--json', ...words)).toBe(2);
  expect(JSON.parse(world.out())).toMatchObject({
    verdict: 'untold',
    changes: [{ change: 'repeat', outcome: 'parts', differs: 'start' }],
  });
});

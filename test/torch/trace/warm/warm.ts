// A `python` that need not import torch for each script: half of what a traced script costs is that. It forks from one that has
// it loaded; verdicts are the same, and the tests of `../runtime` start processes as a user does.
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../../../src/version.ts';

const WARM = join(PACKAGE_ROOT, 'test', 'torch', 'trace', 'warm', 'warm.py');

/** What scripts import, as far as an environment has it. */
const MODULES = [
  'torch',
  'transformers',
  'transformers.trainer',
  'accelerate',
  'datasets',
  'peft',
  ...['sft', 'dpo', 'grpo', 'rloo'].map((method) => `trl.trainer.${method}_trainer`),
];

const warmed = new Map<string, Promise<string>>();

/** A folder with a `python` for the head of PATH, which ends with this process; `bin` is where the environment has its own. */
export function warm(bin: string): Promise<string> {
  const known = warmed.get(bin) ?? started(bin);
  warmed.set(bin, known);
  return known;
}

async function started(bin: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'warm-'));
  const python = join(bin, 'python');
  const socket = join(folder, 'socket');
  const server = execa(python, [WARM, 'serve', socket, ...MODULES], {
    env: { OMP_NUM_THREADS: '1' },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
    reject: false,
    cleanup: false,
  });
  await Promise.race([once(server.stdout, 'data'), server]);
  if (!existsSync(socket)) throw new Error(`${python} cannot be made warm`);
  // It holds nobody up: it ends with its standard input, and takes the folder along.
  for (const each of [server, server.stdin as Socket, server.stdout as Socket]) each.unref();
  const forked = `"${python}" -S -E "${WARM}" run "${socket}"`;
  // torchrun starts its ranks as `python -u rank.py`.
  const run = `case "$1 $2" in\n-u\\ *.py) shift ;;\nesac\ncase "$1" in\n*.py) exec ${forked} "$@" ;;\nesac\nexec "${python}" "$@"`;
  const write = (name: string, lines: string): void =>
    writeFileSync(join(folder, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  for (const name of ['python', 'python3']) write(name, run);
  // What starts ranks and scripts, with the `python` beside it.
  for (const name of ['accelerate', 'torchrun', 'trl'].filter((each) => existsSync(join(bin, each))))
    write(name, `exec ${forked} "${join(bin, name)}" "$@"`);
  return folder;
}

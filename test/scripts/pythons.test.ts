// Which Pythons the wheel can be tried with: a shim that starts nothing hides none, and is no Python where there is none behind it.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';

test('shims are looked behind, and what starts nothing is told apart from what is absent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof pythons ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = (path: string, line: string): string => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `#!/bin/sh\n${line}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const shim = 'echo "pyenv: python3.x: command not found" >&2; exit 127';
  program('shims/python3.9', shim);
  const nine = program('pyenv/versions/3.9.18/bin/python3', 'echo 3.9');
  const thirteen = program('shims/python3.13', shim);
  // One of another version under this name.
  const fourteen = program('shims/python3.14', 'echo 3.13');
  const { stdout } = await execa('bash', [join(PACKAGE_ROOT, 'scripts/wheel/pythons.sh')], {
    env: {
      PYENV_ROOT: join(folder, 'pyenv'),
      PATH: [join(folder, 'shims'), process.env.PATH].join(delimiter),
    },
  });
  const lines = stdout.split('\n');
  expect(lines).toHaveLength(6);
  expect(lines).toContain(`3.9 works ${nine}`);
  for (const [version, shimmed] of [
    ['3.13', thirteen],
    ['3.14', fourteen],
  ] as const) {
    // A machine may have a real one.
    const real = ['/usr/bin', '/usr/local/bin'].some((bin) => existsSync(join(bin, `python${version}`)));
    if (!real) expect(lines).toContain(`${version} broken ${shimmed}`);
  }
});

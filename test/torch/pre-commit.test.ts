// Our hook and our example of a configuration, as pre-commit itself reads them. That it runs the hook is tried by scripts/wheel-test.sh,
// where there is a wheel for it to install.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { PYTHON } from './pytest/pytest.ts';

async function validated(kind: 'manifest' | 'config', file: string): Promise<{ code?: number; out: string }> {
  const words = ['-m', 'pre_commit', `validate-${kind}`, file];
  const { exitCode, all } = await execa(PYTHON, words, { reject: false, all: true });
  return { ...(exitCode === undefined ? {} : { code: exitCode }), out: all };
}

function written(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-hook-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'file.yaml'), text);
  return join(folder, 'file.yaml');
}

const HOOKS = join(PACKAGE_ROOT, '.pre-commit-hooks.yaml');

test('.pre-commit-hooks.yaml is a manifest, and one with a wrong key is none', async () => {
  const { code, out } = await validated('manifest', HOOKS);
  expect(code, out).toBe(0);
  const wrong = readFileSync(HOOKS, 'utf8').replace('language: python', 'language: pythn');
  expect((await validated('manifest', written(wrong))).code).toBe(1);
});

test.each([
  ['docs/ci/pre-commit-config.yaml', /^([\s\S]*)$/],
  ['docs/ci/README.md', /\*\*pre-commit\*\*[\s\S]*?```yaml\n([\s\S]*?)```/],
])('the configuration in %s is one, and names a hook that there is', async (file, part) => {
  const [, text = ''] = part.exec(readFileSync(join(PACKAGE_ROOT, file), 'utf8')) ?? [];
  const { code, out } = await validated('config', written(text));
  expect(code, out).toBe(0);
  const [, id = ''] = /- id: (\S+)/.exec(text) ?? [];
  // A hook of a repository, and not one that is written there and then, comes from our manifest.
  if (!text.includes('repo: local')) expect(readFileSync(HOOKS, 'utf8')).toContain(`- id: ${id}\n`);
  expect((await validated('config', written(text.replace('hooks:', 'hook:')))).code).toBe(1);
});

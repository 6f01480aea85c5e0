// Runs a few lines of Python that import lossproof.testing, without torch, and takes back what they say.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { onTestFinished } from 'vitest';
import { pythonEnvironment } from '../../../scripts/python.ts';

/** In scope: `say(value)` adds to what comes back, `why(function)` is the first line of what the function raises, with its type. */
const PRELUDE = `
import json, sys
said = []
say = said.append
def why(function):
    try:
        return "returned %r" % (function(),)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)
`;

/** What the script says. It runs in a folder with these files, which is on the path of imports. */
export async function said(
  script: string,
  files: Readonly<Record<string, string>> = {},
  python = 'python3',
): Promise<unknown[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof testing '));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const main = join(folder, 'main.py');
  writeFileSync(main, `${PRELUDE}\n${script}\nprint(json.dumps(said))\n`);
  const { stdout } = await execa(python, [main], {
    cwd: folder,
    env: { ...pythonEnvironment(), PYTHONDONTWRITEBYTECODE: '1' },
  });
  return JSON.parse(stdout) as unknown[];
}

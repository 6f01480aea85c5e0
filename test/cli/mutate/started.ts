// `mutate` as a process of its own, and what it has judged so far.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');

export function start(folder: string, ...argv: readonly string[]) {
  const child = spawn(process.execPath, ['--import', LOADER, MAIN, ...argv], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1' },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
  const code = new Promise<number | null>((done) => void child.on('close', done));
  return { child, code, text: () => text };
}

/** Lines of the file that it keeps. */
export function judgedIn(folder: string): string[] {
  const kept = join(folder, '.lossproof', 'mutate');
  const [file] = existsSync(kept) ? readdirSync(kept).filter((name) => name.endsWith('.ndjson')) : [];
  if (file === undefined) return [];
  return readFileSync(join(kept, file), 'utf8')
    .split('\n')
    .slice(0, -1) // behind it nothing, or what is not yet a line
    .filter((line) => line.includes('"type":"judged"'));
}

export async function until(what: () => boolean, every = 20): Promise<void> {
  while (!what()) await sleep(every);
}

// `npm run build`: dist/ anew from the sources, so that what was moved leaves nothing behind; and of the declarations only
// those that a user's compiler reaches from what package.json exports. Runs before
// anything is built, hence .mjs.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { missing } from './lists.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

for (const { file, text } of missing()) writeFileSync(file, text);
rmSync(dist, { recursive: true, force: true });
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

const { bin, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
// `npm link` does so once: a command that is linked would be refused after the next build.
for (const file of Object.values(bin)) chmodSync(join(root, file), 0o755);
const reached = new Set();
for (const entry of Object.values(exports)) if (entry.types !== undefined) reach(resolve(root, entry.types));
for (const name of readdirSync(dist, { recursive: true })) {
  const file = join(dist, name);
  if (file.endsWith('.d.ts') && !reached.has(file)) rmSync(file);
}

function reach(file) {
  if (reached.has(file) || !existsSync(file)) return;
  reached.add(file);
  for (const [, from] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g))
    reach(resolve(dirname(file), from.replace(/\.[jt]s$/, '.d.ts')));
}

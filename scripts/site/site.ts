// The documentation as a site: site/, to be opened from disk or served by anything. Exit code 1 where a link is dead.
//   npm run site
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { buildSite } from './build.ts';
import { deadLinks } from './links.ts';

const FOLDER = join(PACKAGE_ROOT, 'site');

const { pages, files } = buildSite();
rmSync(FOLDER, { recursive: true, force: true });
for (const [path, content] of [...pages, ...files]) {
  const file = join(FOLDER, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
const dead = deadLinks(pages, new Set(files.keys()));
for (const complaint of dead) console.error(complaint);
console.log(`${pages.size} pages in site/, ${dead.length} dead links`);
if (dead.length > 0) process.exitCode = 1;

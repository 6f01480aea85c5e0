// `npm run wheel`: dist/lossproof-VERSION-py3-none-any.whl, what `pip install lossproof` installs: the Python packages, and
// the engine in one of them. The same sources give the same bytes: hatchling dates every file alike.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { engineFiles } from './engine.ts';
import { pipIn } from './environment.ts';
import { absoluteLinks } from './readme.ts';

const PYTHON = join(PACKAGE_ROOT, 'src', 'python');
const DIST = join(PACKAGE_ROOT, 'dist');
const NAME = /^lossproof-.*\.whl$/;

const scratch = mkdtempSync(join(tmpdir(), 'lossproof-wheel-'));
try {
  const stage = join(scratch, 'stage');
  cpSync(PYTHON, stage, { recursive: true, filter: (path) => !/__pycache__|\.pyc$/.test(path) });
  const engine = join(stage, 'lossproof_door', 'engine');
  const files = engineFiles();
  for (const path of files) {
    mkdirSync(dirname(join(engine, path)), { recursive: true });
    cpSync(join(PACKAGE_ROOT, path), join(engine, path), { dereference: true });
  }
  cpSync(join(PACKAGE_ROOT, 'LICENSE'), join(stage, 'LICENSE'));
  writeFileSync(
    join(stage, 'README.md'),
    absoluteLinks(readFileSync(join(PACKAGE_ROOT, 'README.md'), 'utf8')),
  );

  for (const name of readdirSync(DIST)) if (NAME.test(name)) rmSync(join(DIST, name));
  const pip = pipIn(join(scratch, 'environment'));
  execFileSync(pip.file, [...pip.words, 'wheel', '--quiet', '--no-deps', '--wheel-dir', DIST, stage], {
    stdio: 'inherit',
  });
  for (const name of readdirSync(DIST).filter((each) => NAME.test(each))) {
    const kib = Math.round(statSync(join(DIST, name)).size / 1024);
    process.stdout.write(`dist/${name}: ${kib} KiB, ${files.length} files of the engine\n`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

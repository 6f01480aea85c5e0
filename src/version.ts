// The package's own version, read where it is written.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json, from the sources and from dist/ alike. */
export const PACKAGE_ROOT: string = findRoot(dirname(fileURLToPath(import.meta.url)));
/** Python adapters find `import lossproof` here without installing it. */
export const PYTHON_FOLDER: string = join(PACKAGE_ROOT, 'src', 'python');
export const VERSION: string = (
  JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string }
).version;

function findRoot(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    try {
      const { name } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as { name?: string };
      if (name === 'lossproof') return at;
    } catch {
      // No package.json here: look one folder up.
    }
    if (dirname(at) === at) throw new Error('lossproof cannot find its own package.json; reinstall it.');
  }
}

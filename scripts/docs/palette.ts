// The colours of the HTML report, for what else has colours: the pictures of the glossary and the site. Taken from the
// report's own style sheet, so that there is one palette.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';

/** Custom properties as CSS, light and dark, for `:root`; all of them, or those named. */
export function palette(names?: readonly string[]): string {
  const text = readFileSync(join(PACKAGE_ROOT, 'src/report/html/page/page.css'), 'utf8');
  const [light, dark] = [...text.matchAll(/:root\s*\{([^}]*)\}/g)].map(([, block = '']) =>
    [...block.matchAll(/(--[\w-]+):\s*([^;]+);/g)]
      .map(([, name = '', value = '']) => ({ name, value }))
      .filter(({ name }) => names?.includes(name) ?? true)
      .map(({ name, value }) => `${name}: ${value};`)
      .join(' '),
  );
  if (light === undefined || dark === undefined)
    throw new Error('page.css no longer has a light and a dark :root');
  return `:root { color-scheme: light dark; ${light} }\n@media screen and (prefers-color-scheme: dark) { :root { ${dark} } }\n`;
}

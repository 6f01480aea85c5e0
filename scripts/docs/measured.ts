// Tables that a script measures and writes into a page, between two comments: `<!-- NAME -->` and `<!-- /NAME -->`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';

/** `page` is a path from docs/: `measurements.md`. */
export function writeMeasured(page: string, name: string, lines: readonly string[]): void {
  const { file, text, from, to } = placeOf(page, name);
  writeFileSync(file, `${text.slice(0, from)}${lines.join('\n')}\n${text.slice(to)}`);
}

/** The lines that were written last. */
export function measuredIn(page: string, name: string): readonly string[] {
  const { text, from, to } = placeOf(page, name);
  return text.slice(from, to).trimEnd().split('\n');
}

function placeOf(page: string, name: string) {
  const file = join(PACKAGE_ROOT, 'docs', page);
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const text = readFileSync(file, 'utf8');
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  if (!text.includes(begin) || to < from) throw new Error(`${file} has no place for ${name}`);
  return { file, text, from, to };
}

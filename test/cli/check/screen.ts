// A terminal as far as this program needs one: what remains on the screen after carriage returns and erasing, and
// the same screen without what differs from run to run.
import { resolve } from 'node:path';
import { widthOf } from '../../../src/report/text/visible.ts';
import { VERSION } from '../../../src/version.ts';

/** The lines that remain, as a terminal of `columns` breaks them. Throws where a line is written over, not erased. */
export function remaining(written: string, columns: number): string {
  const lines = written.split('\n').map((line) => {
    const states = line.split(`\r${ESCAPE}[K`);
    const last = states.at(-1) ?? '';
    if (last.includes('\r')) throw new Error(`written over: ${JSON.stringify(line)}`);
    return last;
  });
  return lines.flatMap((line) => (line.includes(ESCAPE) ? [line] : cutInto(line, columns))).join('\n');
}

/** What stood in the live line at one time or another. */
export function liveStates(written: string): string[] {
  return written
    .split('\n')
    .flatMap((line) => line.split(`\r${ESCAPE}[K`).slice(1))
    .filter((state) => state !== '');
}

/** Without times, rates, folders of this machine and versions; nothing else may differ between two runs. */
export function normal(text: string, folder: string): string {
  return text
    .replaceAll(folder, 'FOLDER')
    .replaceAll(resolve('src/python'), 'SDK')
    .replace(/PYTHONPATH=\S+/g, 'PYTHONPATH=SDK')
    .replaceAll(`lossproof ${VERSION}`, 'lossproof VERSION')
    .replace(/python 3\.[\d.]+/g, 'python 3.x')
    .replace(/^.*│ *[~^]+ *$\n/gm, '')
    .replace(/(^| · )[\d.]+ m?s\b/gm, '$1TIME');
}

/** Escape codes as something that can be read. */
export function shownCodes(text: string): string {
  return text.replaceAll(ESCAPE, '␛');
}

/** As a terminal breaks a line: at its last column, wherever that is. */
function cutInto(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const { segment } of new Intl.Segmenter('en').segment(text)) {
    if (line !== '' && widthOf(line + segment) > columns) {
      lines.push(line);
      line = '';
    }
    line += segment;
  }
  return [...lines, line];
}

const ESCAPE = '\u001b';

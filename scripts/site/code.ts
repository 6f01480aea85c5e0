// Code of a page: a span per line, so that what is too long hangs below its own beginning and nothing scrolls sideways;
// columns that belong together stay together in a smaller font; commands read as they do for whoever came by pip, or npm.
import stringWidth from 'string-width';
import { html, type Markup, raw } from '../../src/report/html/page/markup.ts';

/** `info`: what stands behind the backticks. */
export function codeBlock(text: string, info: string, doors = true): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const columns = columnsOf(lines, info);
  const style = columns === 0 ? '' : raw(` class="aligned" style="--columns:${columns}"`);
  const language = info === '' ? '' : raw(` class="language-${/^\w+/.exec(info)?.[0] ?? ''}"`);
  // What installs is of one door.
  const both = doors && !/\b(npm|npx --yes|pip install) /.test(text);
  const body = lines.map((line) => lineOf(line, info, both));
  return `${html`<div class="code"><pre${style}><code${language}>${body}</code></pre></div>`.markup}\n`;
}

/** A command of ours, with `npx` or without; the name alone, or with a version behind it, is none. */
const COMMAND = /^(\s*(?:\$ )?)(?:npx )?(?=lossproof (?:[a-z]+\b|--?[a-z]))/;
/** A command, and what it is said to do. */
const REMARK = /^(.*?\S)( {2,}|\t+)((?:#|\/\/) .*)$/;

function lineOf(line: string, info: string, both: boolean): Markup {
  const indent = /^ */.exec(line)?.[0].length ?? 0;
  const remark = isAligned(line, info) ? undefined : REMARK.exec(line);
  const [, command = line, gap = '', said = ''] = remark ?? [];
  const words = both ? throughDoor(command) : html`${command}`;
  // The end of the line is the remark's where there is one: it may stand on a line of its own.
  const rest =
    remark === undefined || remark === null
      ? '\n'
      : html`<span class="gap">${gap}</span><span class="remark">${said}\n</span>`;
  return html`<span class="line" style="--hang:${indent + 2}">${words}${rest}</span>`;
}

function throughDoor(text: string): Markup {
  const found = COMMAND.exec(text);
  if (found === null) return html`${text}`;
  return html`${found[1] ?? ''}<span class="npx">npx </span>${text.slice(found[0].length)}`;
}

/** `lossproof check` in a sentence. */
export function inlineCode(text: string): string {
  return html`<code>${throughDoor(text)}</code>`.markup;
}

/** Of the lines whose columns belong together, the widest; 0: there are none. Beyond what can be read, they wrap like others. */
function columnsOf(lines: readonly string[], info: string): number {
  const aligned = lines.filter((line) => isAligned(line, info));
  const widths = aligned.map((line) => stringWidth(line)).filter((width) => width <= WIDEST);
  return widths.length < 2 ? 0 : Math.max(...widths);
}

const WIDEST = 92;

/** Two gaps in it at least, of which a remark is none. */
function isAligned(line: string, info: string): boolean {
  if (info !== '' && info !== 'text') return false;
  const [, told = line] = REMARK.exec(line) ?? [];
  return [...told.trim().matchAll(/\S {2,}(?=\S)/g)].length >= 2;
}

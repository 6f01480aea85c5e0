// A page as its reader follows it: sections of steps, each a file to save, a block of commands to type, or what they print.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../../src/version.ts';

export type Step =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  /** A line in place of the one of the last file that begins alike. */
  | { readonly kind: 'edit'; readonly text: string }
  | { readonly kind: 'commands'; readonly lines: readonly string[] }
  /** What the commands before it print. */
  | { readonly kind: 'printed'; readonly text: string };

export interface Section {
  /** Empty before the first heading of level 2. */
  readonly heading: string;
  readonly steps: readonly Step[];
}

export function sectionsOf(page: string): readonly Section[] {
  const text = readFileSync(join(PACKAGE_ROOT, page), 'utf8');
  return text.split(/^## /m).map((part, at) => {
    const [heading = '', ...rest] = part.split('\n');
    return { heading: at === 0 ? '' : heading, steps: stepsOf(rest.join('\n')) };
  });
}

const FENCE = /^ *```(\w*)\n(.*?)^ *```$/gms;

function stepsOf(text: string): Step[] {
  const steps: Step[] = [];
  let before = 0;
  for (const match of text.matchAll(FENCE)) {
    const [whole, language = '', code = ''] = match;
    const prose = text.slice(before, match.index);
    before = match.index + whole.length;
    steps.push(
      ...inlineOf(prose),
      ...blockOf(language, code, prose.trimEnd().split('\n\n').at(-1) ?? '', steps),
    );
  }
  return [...steps, ...inlineOf(text.slice(before))];
}

/** The file that the sentence before a block names, or its first line. */
const SAVED = /(?:^In |\*\* In |\bas\s|save\s+this\s+as\s)`([\w./-]+)`[^`]*:$/;
const NAMED = /^(?:#|\/\/) ([\w.-]+\.\w+)$/;

function blockOf(language: string, code: string, prose: string, before: readonly Step[]): Step[] {
  const name = NAMED.exec(code.split('\n')[0] ?? '')?.[1] ?? SAVED.exec(prose)?.[1];
  const inline = language === 'markdown' ? inlineOf(code) : [];
  if (name !== undefined) return [{ kind: 'file', name, text: code }, ...inline];
  if (language === 'python' && /^ +\w+ = .*\n$/.test(code)) return [{ kind: 'edit', text: code }];
  if (language !== '') return inline;
  const lines = typedIn(code);
  if (lines.length > 0) {
    const [, ...shown] = code.split(/^\$ .*\n/m);
    return [{ kind: 'commands', lines }, ...shown.map((text): Step => ({ kind: 'printed', text }))];
  }
  return before.some(({ kind }) => kind === 'commands') ? [{ kind: 'printed', text: code }] : [];
}

const PROGRAM = /^ *(?:\$ )?(?:(?:npx )?lossproof (?![=\d])|npm |pip |python |pytest |claude |kill )/;

/** Lines of a block that a shell is given; a word in quotes may go over several. */
function typedIn(code: string): string[] {
  const lines: string[] = [];
  for (const line of code.split('\n')) {
    const last = lines.at(-1);
    if (last !== undefined && isOpen(last)) lines[lines.length - 1] = `${last}\n${line}`;
    else if (PROGRAM.test(line)) lines.push(line.replace(/^ *\$ /, ''));
  }
  return lines;
}

const isOpen = (line: string): boolean =>
  /\\$/.test(line) ||
  (line
    .replace(/ +# .*$/, '')
    .replaceAll(/"[^"]*"/g, '')
    .split("'").length -
    1) %
    2 ===
    1;

/** Commands within sentences and tables, where they are complete: two words are a command's name, capitals are a place for a name. */
function inlineOf(text: string): Step[] {
  return [...text.matchAll(/`((?:npx )?lossproof [a-z][^`]*)`/g)]
    .map(([, code = '']) => code.replaceAll(/\s+/g, ' '))
    .filter((code) => code.replace('npx ', '').split(' ').length > 2 && !/\b[A-Z_]{2,}\b|\.\.\./.test(code))
    .map((line): Step => ({ kind: 'commands', lines: [line] }));
}

/** What needs torch: the code of a script and its data, or a trainer that pip brings. */
export const needsTorch = (line: string): boolean =>
  /lossproof (?:trace|twin|dataset) |--adapter |torchrun|--model |gap \.lossproof/.test(line);

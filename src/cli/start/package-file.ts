// A package.json made ready for `npm test`, as text in and text out: what stands in it stays, its indentation and line
// ends, too.
import { isJsonObject } from '../../outside/decoded.ts';
import { parseStrict } from '../../outside/json.ts';

export interface Wanted {
  /** The command of `npm test`. */
  readonly test: string;
  /** Package to range, for development. */
  readonly packages: Readonly<Record<string, string>>;
}

export interface PackageEdit {
  readonly text: string;
  /** What was added, in words; empty where all was there. */
  readonly added: readonly string[];
  /** What the user has to do, because it is theirs to decide. */
  readonly todo: readonly string[];
}

/** `undefined`: there is no such file yet. A problem where it cannot be read as what npm expects. */
export function editPackage(text: string | undefined, wanted: Wanted): PackageEdit | { problem: string } {
  const content = parse(text ?? NEW);
  if (content === undefined) return { problem: 'package.json is no JSON object; correct it first' };
  const added: string[] = [];
  const todo: string[] = [];

  const scripts = record(content.scripts);
  const test = scripts.test;
  if (typeof test !== 'string' || PLACEHOLDER.test(test)) {
    content.scripts = { ...scripts, test: wanted.test };
    added.push(`script "test": "${wanted.test}"`);
  } else if (!test.includes(wanted.test.split(' ')[0] ?? '')) {
    todo.push(`package.json has a test script of its own; add to it: "test": "${test} && ${wanted.test}"`);
  }

  const there = { ...record(content.peerDependencies), ...record(content.optionalDependencies) };
  const present = { ...there, ...record(content.dependencies), ...record(content.devDependencies) };
  const missing = Object.entries(wanted.packages).filter(([name]) => !(name in present));
  if (missing.length > 0) {
    const packages = { ...record(content.devDependencies), ...Object.fromEntries(missing) };
    content.devDependencies = Object.fromEntries(
      Object.entries(packages).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );
    added.push(...missing.map(([name, range]) => `${name} ${range}`));
  }
  return { text: added.length === 0 ? (text ?? '') : write(content, text ?? NEW), added, todo };
}

const NEW = '{\n  "private": true,\n  "type": "module"\n}\n';
/** What `npm init` writes. */
const PLACEHOLDER = /no test specified/;

function parse(text: string): Record<string, unknown> | undefined {
  const read = parseStrict(text);
  const value = 'ok' in read ? read.ok : undefined;
  return isJsonObject(value) ? { ...value } : undefined;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function write(content: Record<string, unknown>, like: string): string {
  const indent = /\n([ \t]+)"/.exec(like)?.[1] ?? '  ';
  const lines = JSON.stringify(content, null, indent) + (like.trimEnd() === like ? '' : '\n');
  return like.includes('\r\n') ? lines.replaceAll('\n', '\r\n') : lines;
}

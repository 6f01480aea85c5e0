// What was found as an adapter, as a person would write it: the lines that were judged, what they need, and in comments what was
// assumed. Pure text; who asked for it writes it.
import { dirname, relative } from 'node:path';
import type { Op } from '../protocol/message.ts';
import type { Semantics } from '../vocabulary.ts';
import { constants } from './constants.ts';
import type { Candidate, LoadedFile, Way } from './dialogue.ts';
import { fixedTokens, fixedWords } from './fixed-ids.ts';
import { type Fit, type Found, isBug, leftOutWords, type Misfit } from './found.ts';
import { inventedItems } from './invented.ts';
import { variantWords } from './variant.ts';

interface Entry {
  readonly candidate: Candidate;
  readonly op: Op;
  readonly way: Way;
  readonly variant: Semantics;
  readonly comments: readonly string[];
  /** What was measured of it is its variant. */
  readonly holds: boolean;
  readonly flawed: boolean;
}

export interface AdapterText {
  readonly text: string;
  /** Ops that it answers, and those of them that a property fails. */
  readonly ops: readonly Op[];
  readonly failing: readonly Op[];
}

/** Which function answers an op, where several do; by default the one whose names say most. */
export type Preferred = ReadonlyMap<Op, Fit>;

/** Of `lossproof.testing`. */
const HELPERS = ['Settings', 'drawn_from', 'in_part', 'instance', 'stub'];

/** Undefined: nothing was found that could be written. */
export function adapterText(
  found: Found,
  adapterFile: string,
  typed: readonly string[],
  preferred: Preferred = new Map(),
): AdapterText | undefined {
  const entries = chosen(found, dirname(adapterFile), preferred);
  if (entries.length === 0) return undefined;
  const files = [...new Set(entries.flatMap(filesOf(found)))];
  const loaded = files.flatMap((file) => found.loaded.get(file) ?? []);
  const body = entries.map((entry) => functionText(entry)).join('\n\n\n');
  const heads = loaded.map(({ head }) => head);
  const all = [...heads, ...entries.map(({ way }) => way.header), body].join('\n');
  const testing = HELPERS.filter((name) => new RegExp(`\\b${name}\\(`).test(all));
  const folders = [...new Set(loaded.map(({ folder }) => folder))].filter(
    (folder) => folder !== '' && folder !== dirname(adapterFile),
  );
  const lines = [
    `"""The trainer's own functions, and which op each answers. Written by \`lossproof discover ${typed.join(' ')}\`."""`,
    'import lossproof  # first: from here on standard output belongs to the protocol',
    ...(folders.length > 0 ? ['import os', 'import sys'] : []),
    ...(found.arrays === 'torch' && /\btorch\./.test(body) ? ['', 'import torch'] : []),
    ...(testing.length > 0 ? [`from lossproof.testing import ${testing.join(', ')}`] : []),
    '',
    ...folders.map((folder) => pathLine(folder, dirname(adapterFile))),
    ...importLines(loaded),
    ...headers(entries),
  ];
  const text = `${lines.join('\n')}\n\n\n${body}\n\n\n${serveText(found, entries)}\n`;
  return {
    text,
    ops: entries.map(({ op }) => op),
    failing: entries.filter(({ flawed }) => flawed).map(({ op }) => op),
  };
}

/** Objects of classes that are called, made once. */
function headers(entries: readonly Entry[]): string[] {
  const lines = unique(entries.map(({ way }) => way.header)).filter((line) => line !== '');
  return lines.length === 0 ? [] : ['', ...lines];
}

/** What was stubbed for one import is stubbed for it alone: a function may import in earnest later. */
function importLines(loaded: readonly LoadedFile[]): string[] {
  const blocks = new Map<string, string[]>();
  for (const { line, head, leftOut } of loaded) {
    const said = leftOut.length === 0 ? [] : folded(`Left out: ${leftOutWords({ leftOut })}`, MOST_COLUMNS);
    blocks.set(head, [...(blocks.get(head) ?? []), ...said.map((each) => `# ${each}`), line]);
  }
  return [...blocks].flatMap(([head, lines]) =>
    head === '' ? lines : [head, ...lines.map((line) => `    ${line}`)],
  );
}

/** One function an op: the one whose names say most, and a misfit only where nothing holds. */
function chosen({ bound, misfits }: Found, from: string, preferred: Preferred): Entry[] {
  const ops = [...new Set([...bound, ...misfits].map(({ op }) => op))];
  return ops.map((op) => {
    const named = preferred.get(op);
    const fits = fitsOf(bound, op).sort((a, b) => Number(b === named) - Number(a === named));
    const [fit, ...rest] = fits;
    if (fit === undefined)
      return misfitEntry(
        misfits.filter((each) => each.op === op),
        from,
      );
    return {
      ...fit,
      holds: true,
      flawed: fit.flaws.some(isBug),
      comments: [
        `${placeOf(fit.candidate, from)}${words(fit.variant)}`,
        ...fit.flaws.map((flaw) =>
          isBug(flaw)
            ? `It has a bug: ${flaw.sentence}`
            : `${flaw.sentence} If it is meant, declare ${(flaw.answers ?? []).join(' or ')}`,
        ),
        ...fit.failing.map(
          ({ call, broken }) => `With ${constants(fit.way, call)} it does not hold: ${broken.sentence}`,
        ),
        ...fit.weaker.map(({ sentence }) => `At level should it does not hold: ${sentence}`),
        ...fit.way.assumes.map((each) => `Assumed: ${each}.`),
        ...inventedLine(fit.way, fit.variant),
        ...(fit.way.unread.length === 0
          ? []
          : [`Not looked at: ${fit.way.unread.join(', ')} of what it returns.`]),
        ...(fit.others.length === 0
          ? []
          : [`As well: ${fit.others.map(({ call, variant }) => `${call}${words(variant)}`).join('; ')}.`]),
        ...(rest.length === 0
          ? []
          : [
              `It could be ${rest.map((each) => `${each.candidate.name}${words(each.variant)}`).join('; ')}.`,
            ]),
      ],
    };
  });
}

function misfitEntry(misfits: readonly Misfit[], from: string): Entry {
  const [first] = [...misfits].sort((a, b) => b.held / b.judged - a.held / a.judged);
  if (first === undefined) throw new Error('An op without a function has no entry.');
  const [broken] = first.broken;
  return {
    ...first,
    holds: false,
    flawed: first.broken.some(({ level }) => level === 'must'),
    comments: [
      `${placeOf(first.candidate, from)}; it does not hold: ${broken?.sentence ?? ''}`,
      ...(broken?.level === 'must' ? [] : ['`check --level should` shows it.']),
      ...first.way.assumes.map((each) => `Assumed: ${each}.`),
    ],
  };
}

/** All that answer an op, the likeliest first. */
export function fitsOf(bound: readonly Fit[], op: Op): Fit[] {
  return bound.filter((each) => each.op === op).sort((a, b) => worth(b) - worth(a));
}

const worth = ({ candidate, op, way }: Fit): number =>
  (way.agrees ? 100 : 0) +
  (candidate.ops[op] ?? 0) -
  10 * Number(way.capability.eos_token_ids === 1) -
  2 * way.assumes.length;

const words = (variant: Semantics): string => {
  const said = variantWords(variant);
  return said === '' ? '' : ` (${said})`;
};

const placeOf = ({ file, line }: Candidate, from: string): string =>
  `${relative(from, file) || file}:${line}`;

/** Its own file, and those whose functions it calls as well. */
function filesOf({ loaded, bound }: Found): (entry: Entry) => readonly string[] {
  return ({ candidate, way }) => {
    const prefixes = [...loaded].map(([file, { line }]) => [file, line.split(' ').at(-1) ?? ''] as const);
    const named = prefixes
      .filter(([, prefix]) => new RegExp(`\\b${prefix}\\.`).test(way.text))
      .map(([file]) => file);
    const known = new Set(bound.map((each) => each.candidate.file));
    return [candidate.file, ...named.filter((file) => known.has(file))];
  };
}

function functionText({ way, comments }: Entry): string {
  const layout =
    way.layout === null || (way.layout.alignment === 'token' && way.layout.span === 'row')
      ? {}
      : { layout: way.layout };
  const declared = Object.entries({ ...way.capability, ...layout }).map(
    ([name, value]) => `${name}=${python(value)}`,
  );
  const decorator = declared.length === 0 ? '@lossproof.op' : `@lossproof.op(${declared.join(', ')})`;
  const said = comments.flatMap((comment) => folded(comment, MOST_COLUMNS).map((line) => `# ${line}`));
  return [...said, decorator, way.text.trimEnd()].join('\n');
}

function serveText({ arrays }: Found, entries: readonly Entry[]): string {
  const semantics = Object.assign(
    {},
    ...entries
      .filter(({ holds }) => holds)
      .map(({ way, variant }) => without(variant, inventedItems(way, variant))),
  ) as Semantics;
  const name = entries[0]?.candidate.file.split(/[/\\]/).at(-1)?.replace(/\.py$/, '') ?? 'trainer';
  const given = [`name=${python(name)}`, ...(arrays === null ? [] : [`arrays=${python(arrays)}`])];
  // What is not bounded is measured as Infinity, and declared as None.
  const measured = Object.entries(semantics).map(
    ([key, value]) => `        ${python(key)}: ${python(value === Number.POSITIVE_INFINITY ? null : value)},`,
  );
  const tokens = tokensLine(entries);
  if (measured.length === 0 && tokens.length === 0) return `lossproof.serve(${given.join(', ')})`;
  return [
    'lossproof.serve(',
    ...given.map((each) => `    ${each},`),
    ...tokens,
    ...(measured.length === 0
      ? []
      : ['    semantics={  # as measured; take out what training does not rely on', ...measured, '    },']),
    ')',
  ].join('\n');
}

/** The special ids of all functions together: one adapter has one vocabulary. */
function tokensLine(entries: readonly Entry[]): string[] {
  const fixed = Object.assign({}, ...entries.map(({ way }) => way.fixed)) as Way['fixed'];
  const tokens = fixedTokens({ fixed });
  return tokens === undefined ? [] : [`    tokens=${python(tokens)},  # ${fixedWords({ fixed })}`];
}

/** What was made up is nobody's semantics. */
function inventedLine(way: Way, variant: Semantics): string[] {
  const items = inventedItems(way, variant);
  return items.length === 0 ? [] : [`Not said below, for its number was made up here: ${items.join(', ')}.`];
}

const without = (variant: Semantics, items: readonly string[]): Semantics =>
  Object.fromEntries(Object.entries(variant).filter(([key]) => !items.includes(key))) as Semantics;

function pathLine(folder: string, from: string): string {
  const way = relative(from, folder).replaceAll('\\', '/');
  return `sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ${python(way)}))`;
}

function python(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return pythonList(value);
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, each]) => `${JSON.stringify(key)}: ${python(each)}`)
      .join(', ')}}`;
  if (typeof value === 'number' && !Number.isFinite(value))
    return `float(${JSON.stringify(String(value).replace('Infinity', 'inf'))})`;
  return JSON.stringify(value);
}

const pythonList = (values: readonly unknown[]): string => `[${values.map(python).join(', ')}]`;

function folded(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const MOST_COLUMNS = 110;
const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

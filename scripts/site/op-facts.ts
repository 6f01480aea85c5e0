// What is known of an op beside its line in the protocol's table: its section of PROTOCOL.md taken apart, what comments
// say of its fields, the capabilities and the items of the semantics that speak of it, the properties that ask for it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { properties } from '../../properties/index.ts';
import type { Property } from '../../src/check/property.ts';
import { isOptional, isTrack, kindOf } from '../../src/protocol/fields.ts';
import { OPS, type Op } from '../../src/protocol/message.ts';
import { FAMILIES, type Family, familyNames } from '../../src/protocol/ops.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { CHOICES, choiceNames } from '../../src/vocabulary/choices.ts';

export interface Field {
  readonly name: string;
  readonly kind: string;
  readonly optional: boolean;
  /** `(B, T)`; the ids in `[]` are those of a row that may have another length than the next. */
  readonly shape: string;
  /** What a comment of the table says of it. */
  readonly note: string;
}

export interface Described {
  readonly name: string;
  /** Markdown, as PROTOCOL.md has it. */
  readonly says: string;
}

export interface OpFacts {
  readonly op: Op;
  readonly family: Family;
  /** Markdown of PROTOCOL.md, without its tables of fields and its examples. */
  readonly prose: string;
  /** Lines of JSON, requests and answers in turn. */
  readonly examples: readonly string[];
  readonly args: readonly Field[];
  readonly ok: readonly Field[];
  readonly capabilities: readonly Described[];
  readonly semantics: readonly Described[];
  readonly properties: readonly Property[];
}

export const opNames = Object.keys(OPS) as readonly Op[];

const protocol = readFileSync(join(PACKAGE_ROOT, 'PROTOCOL.md'), 'utf8');

export function opFacts(op: Op): OpFacts {
  const section = sectionOf(op);
  const blocks = [...section.matchAll(/^```json\n([\s\S]*?)^```\n/gm)].map(([, lines = '']) => lines);
  const prose = section
    .replaceAll(/^```json\n[\s\S]*?^```\n/gm, '')
    .replace(/^\| +\| +\|\n(?:\|.*\n)+/m, '')
    .trim();
  const family = familyNames.find((name) => op in FAMILIES[name]) ?? 'text';
  const asking = properties.filter(({ ops }) => ops.includes(op));
  return {
    op,
    family,
    prose,
    examples: blocks.flatMap((lines) => lines.trim().split('\n')),
    args: fieldsOf(op, 'args', family),
    ok: fieldsOf(op, 'ok', family),
    capabilities: rowsOf('Capabilities')
      .filter(([ops = '']) => ops.includes(`\`${op}\``) || (ops === 'ops with tracks' && hasTracks(op)))
      .map(([, name = '', says = '']) => ({ name: bare(name), says })),
    semantics: choiceNames
      .filter((name) => CHOICES[name].ops.includes(op))
      .map((name) => ({ name, says: CHOICES[name].says })),
    properties: asking,
  };
}

function sectionOf(op: Op): string {
  const [, section = ''] = new RegExp(`^### ${op}\n([\\s\\S]*?)(?=^##)`, 'm').exec(protocol) ?? [];
  return section;
}

/** The cells of the table below a heading, without those of its own. */
function rowsOf(heading: string): string[][] {
  const [, text = ''] = new RegExp(`^## ${heading}\n([\\s\\S]*?)(?=^## )`, 'm').exec(protocol) ?? [];
  return [...text.matchAll(/^\| (.*) \|$/gm)]
    .slice(1)
    .map(([, cells = '']) => cells.split(/(?<!\\)\|/).map((cell) => cell.trim()));
}

const bare = (cell: string): string => cell.replaceAll('`', '');

function hasTracks(op: Op): boolean {
  const { args, ok } = OPS[op];
  return [args, ok].some((fields) => Object.values<string>(fields).some((spec) => isTrack(kindOf(spec))));
}

function fieldsOf(op: Op, side: 'args' | 'ok', family: Family): Field[] {
  const notes = notesOf(op, side, family);
  return Object.entries(OPS[op][side]).map(([name, spec]: [string, string]) => {
    const kind = kindOf(spec);
    const note = notes.get(name) ?? '';
    const [said, shape, rest] = /^(\(B.*?\))(?:,| of)? ?(.*)$/.exec(note) ?? [];
    return {
      name,
      kind,
      optional: isOptional(spec),
      shape: said === undefined ? (SHAPES[kind] ?? '') : (shape ?? ''),
      note: said === undefined ? note : (rest ?? ''),
    };
  });
}

/** Of a kind, where no comment says more. */
const SHAPES: Readonly<Record<string, string>> = {
  texts: '(n,)',
  text_rows: '(B, ·)',
  ints: '(n,)',
  floats: '(n,)',
  int_rows: '(B, ·)',
  float_rows: '(B, ·)',
  int_matrix: '(B, T)',
  float_matrix: '(B, V)',
  float_cube: '(B, T, V)',
  int_track: '(B, T)',
  float_track: '(B, T)',
  conversations: '(B, ·)',
};

/** Field to comment. The table is code, and what it says beside its fields is written nowhere else. */
function notesOf(op: Op, side: 'args' | 'ok', family: Family): Map<string, string> {
  const source = readFileSync(join(PACKAGE_ROOT, 'src/protocol/ops', `${family}.ts`), 'utf8');
  const [, block = ''] = new RegExp(`^  ${op}: op\\(\\{\n([\\s\\S]*?)^  \\}\\),`, 'm').exec(source) ?? [];
  const border = block.search(/^ {4}ok:/m);
  const own = side === 'args' ? block.slice(0, border) : block.slice(border);
  const shared = [...own.matchAll(/\b[A-Z][A-Z_]{3,}\b/g)].map(
    ([name]) => new RegExp(`^const ${name} = \\{\n([\\s\\S]*?)^\\}`, 'm').exec(source)?.[1] ?? '',
  );
  const lines = `${shared.join('')}${own}`.matchAll(
    /^ *(?:(?:args|ok): \{.*\}|(\w+): '[^']*'), *\/\/ (.*)$/gm,
  );
  return new Map(
    [...lines].map(([line, field, note = '']) => {
      if (field !== undefined) return [field, note];
      // Of several fields in a line: the one that it names, or the first.
      const [, named, rest] = /^(\w+): (.*)$/.exec(note) ?? [];
      const [, first = ''] = /\{ (\w+):/.exec(line) ?? [];
      return named === undefined ? [first, note] : [named, rest ?? ''];
    }),
  );
}

// The profile as a table to read and as JSON to keep: item, declared, measured, and what is to be said of the two.
// Pure; what was measured and how is check/profile's business.
import type { ItemRow, ItemVerdict } from '../check/profile/items.ts';
import type { ItemValue } from '../check/profile/probe.ts';
import type { Profile } from '../check/profile/profile.ts';
import type { Hello } from '../protocol/message.ts';
import { SECTIONS } from '../vocabulary/choices.ts';
import type { ItemName, Semantics } from '../vocabulary.ts';
import { type Brush, type Paint, PLAIN } from './text/paint.ts';
import { pad, widthOf, wrap } from './text/visible.ts';

export interface SheetOptions {
  readonly width: number;
  readonly paint?: Paint;
}

export function profileLines(hello: Hello, profile: Profile, options: SheetOptions): string[] {
  const { paint = PLAIN, width } = options;
  const groups = SECTIONS.flatMap(({ title, names }) => {
    const rows = profile.items.filter(({ item }) => names.includes(item));
    return rows.length === 0 ? [] : [{ title, rows }];
  });
  const cellsOf = (row: ItemRow) => [INDENT + row.item, said(row.declared), measuredOf(row)] as const;
  const shown = profile.items.filter((row) => !isFolded(row)).map(cellsOf);
  const widths = HEAD.map((head, at) =>
    Math.max(widthOf(head), ...shown.map((cells) => widthOf(cells[at] ?? ''))),
  );
  const line = (cells: readonly string[]): string =>
    cells.map((cell, at) => pad(cell, widths[at] ?? 0)).join(SPACE) + SPACE;
  const name = [hello.name, hello.version].filter((part) => part !== undefined).join(' ');
  const runtime = hello.runtime === undefined ? [] : wrap(hello.runtime, width);
  return [
    `${paint.bold(name)}: what it does where trainers legally differ`,
    ...runtime.map(paint.dim),
    '',
    paint.dim(line(HEAD).trimEnd()),
    ...groups.flatMap(({ title, rows }) => [
      paint.bold(title),
      ...rows
        .filter((row) => !isFolded(row))
        .flatMap((row) => rowLines(line(cellsOf(row)), row, paint, width)),
      ...foldedLines(rows.filter(isFolded), width).map(paint.dim),
    ]),
    '',
    ...wrap(countsOf(profile.items), width),
    ...formulaLines(profile, width),
    ...declareLines(profile, width),
  ];
}

/** Words that do not fit beside the values go on below, in the same column while there is room for it. */
function rowLines(head: string, row: ItemRow, paint: Paint, width: number): string[] {
  const words = `${GLYPHS[row.verdict]} ${verdictWords(row)}`;
  const brush = brushOf(row.verdict, paint);
  const column = widthOf(head);
  if (width - column < LEAST_COLUMN)
    return [head.trimEnd(), ...wrap(words, width - FURTHER.length).map((text) => FURTHER + brush(text))];
  const [first = '', ...others] = wrap(words, width - column);
  const below = wrap(others.join(' '), width - column - SPACE.length);
  const continued = others.length === 0 ? [] : below.map((text) => ' '.repeat(column) + SPACE + brush(text));
  return [head + brush(first), ...continued];
}

/** There is nothing to say of it but that its op is not there, which is said once of all of them. */
function isFolded({ verdict, declared }: ItemRow): boolean {
  return verdict === 'absent' && declared === undefined;
}

function foldedLines(rows: readonly ItemRow[], width: number): string[] {
  const words = new Map<string, string[]>();
  for (const row of rows) words.set(verdictWords(row), [...(words.get(verdictWords(row)) ?? []), row.item]);
  return [...words].flatMap(([why, items]) =>
    wrap(`${GLYPHS.absent} ${why} (${items.join(', ')})`, width - FURTHER.length).map(
      (text, at) => (at === 0 ? INDENT : FURTHER) + text,
    ),
  );
}

/** One line of JSON; Infinity (no clip) is the text "Infinity", which JSON has no number for. */
export function profileJson(hello: Hello, profile: Profile): string {
  const { name, version, runtime, dtype } = hello;
  const document = {
    trainer: { name, version, runtime, dtype: dtype ?? 'float32' },
    items: profile.items.map(({ fits, ...row }) => ({
      ...row,
      fits,
      ...(fits.length === 1 ? { measured: fits[0] } : {}),
      words: verdictWords({ ...row, fits }),
    })),
    measured: profile.measured,
    declared: profile.declared,
  };
  const finite = (_: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
  return JSON.stringify(document, finite, 2);
}

/** "kl_estimator k3, advantage_ddof 1"; undefined where there is nothing. */
export function semanticsWords(semantics: Semantics): string | undefined {
  const words = (Object.entries(semantics) as [ItemName, ItemValue][]).map(
    ([item, value]) => `${item} ${said(value)}`,
  );
  return words.length === 0 ? undefined : words.join(', ');
}

/** What is said of an item, without its values where they stand beside it. */
export function verdictWords(row: ItemRow): string {
  const { closest } = row;
  switch (row.verdict) {
    case 'agrees':
      return 'as declared';
    case 'undeclared':
      return 'not declared';
    case 'differs':
      return 'DIFFERS from the declaration';
    case 'untold':
      return untoldWords(row);
    case 'unknown': {
      if (closest === undefined) return 'none of the known variants';
      const { where, expected, observed } = closest.misfit;
      const off = digits(Math.abs(observed - expected));
      const by = Number.isNaN(observed) ? '' : `, off by ${off}`;
      return `none of the known variants; closest ${closest.name}${by}: ${where} is ${digits(observed)}, not ${digits(expected)}`;
    }
    case 'conflict':
      return `two answers: ${row.why}`;
    case 'silent':
      return row.why?.startsWith(NO_EFFECT) ? row.why : `not measured: ${row.why}`;
    case 'absent':
      return `op not offered: ${row.ops.map((op) => `\`${op}\``).join(' or ')}`;
  }
}

/** A declared value that is among them is not wrong. */
function untoldWords({ fits, declared }: ItemRow): string {
  const others = fits.filter((value) => value !== declared);
  return others.length < fits.length
    ? `as declared, or ${others.map(said).join(' or ')}: cannot be told apart here`
    : `cannot be told apart here: ${fits.map(said).join(', ')}`;
}

const NO_EFFECT = 'has no effect';
const HEAD = ['item', 'declared', 'measured'] as const;
const SPACE = '  ';
const INDENT = '  ';
/** Where words stand below their row. */
const FURTHER = '    ';
/** Columns that words need, or they are read one by one. */
const LEAST_COLUMN = 24;
/** Holds a key and its value together until the lines are made. */
const HELD = '\u00a0';
const NOTHING = '–';

const GLYPHS: Readonly<Record<ItemVerdict, string>> = {
  agrees: '✓',
  undeclared: '+',
  differs: '✗',
  untold: '?',
  unknown: '!',
  conflict: '!',
  silent: '·',
  absent: '·',
};

const COUNTED: Readonly<Record<ItemVerdict, string>> = {
  agrees: 'as declared',
  undeclared: 'measured and not declared',
  differs: 'DIFFERS',
  untold: 'cannot be told apart',
  unknown: 'none of the known variants',
  conflict: 'two answers',
  silent: 'not measured',
  absent: 'of ops not offered',
};

function brushOf(verdict: ItemVerdict, paint: Paint): Brush {
  if (verdict === 'agrees') return paint.blue;
  if (verdict === 'silent' || verdict === 'absent') return paint.dim;
  return verdict === 'undeclared' ? paint.bold : paint.orange;
}

function measuredOf({ fits, verdict }: ItemRow): string {
  return verdict === 'untold' || fits.length === 0 ? NOTHING : fits.map(said).join(' or ');
}

/** null: no clamp, no dual clip. Infinity: no clip. */
function said(value: ItemValue | undefined): string {
  if (value === undefined) return NOTHING;
  if (value === null || value === Number.POSITIVE_INFINITY) return 'none';
  if (typeof value === 'object') return JSON.stringify(value);
  return typeof value === 'number' ? digits(value) : String(value);
}

function digits(value: number): string {
  return String(Number(value.toPrecision(6)));
}

function countsOf(rows: readonly ItemRow[]): string {
  const counts = (Object.keys(COUNTED) as ItemVerdict[]).flatMap((verdict) => {
    const count = rows.filter((row) => row.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${COUNTED[verdict]}`];
  });
  return `${rows.length} items: ${counts.join('; ')}`;
}

/** Said only where the pieces of the loss do not add up to it. */
function formulaLines({ probes }: Profile, width: number): string[] {
  const reading = probes.find(({ probe }) => probe.confirms !== undefined)?.reading;
  if (reading?.state !== 'unknown') return [];
  const { where, expected, observed } = reading.misfit;
  const text = `The loss has more in it than these items: on a batch, ${where} is ${digits(observed)}; ${reading.closest.name} gives ${digits(expected)}.`;
  return ['', ...wrap(text, width)];
}

/** What to paste into the declaration, a group per line; what is not bounded is null in JSON. */
function declareLines({ items }: Profile, width: number): string[] {
  const groups = SECTIONS.flatMap(({ names }) => {
    const entries = items.flatMap(({ item, verdict, fits: [value] }) =>
      names.includes(item) && verdict === 'undeclared' && value !== undefined
        ? [`${JSON.stringify(item)}:${HELD}${JSON.stringify(value)}`]
        : [],
    );
    return entries.length === 0 ? [] : [entries.join(', ')];
  });
  if (groups.length === 0) return [];
  const body = wrap(groups.join(',\n'), width - FURTHER.length);
  return ['', 'To declare it (semantics):', ...body.map((text) => FURTHER + text.replaceAll(HELD, ' '))];
}

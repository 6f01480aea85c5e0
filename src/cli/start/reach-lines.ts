// What the adapter does not answer yet, and what each answer would bring, as `doctor` shows it.
import { bugClasses } from '../../bugs/index.ts';
import { many } from '../../check/numbers.ts';
import type { Property, World } from '../../check/property.ts';
import { pad, wrap } from '../../report/text/visible.ts';
import { type Reach, reachOf } from './reach.ts';

/** What is listed row by row; behind it stand names. */
const MOST_ROWS = 12;
const INDENT = '  ';
const GAP = '  ';

/** No lines where nothing is left to gain. */
export function reachLines(properties: readonly Property[], world: World, width: number): readonly string[] {
  const reaches = reachOf(properties, world);
  const ops = reaches.filter(({ capability }) => capability === undefined);
  const capabilities = reaches.filter(({ capability }) => capability !== undefined);
  const told = (title: string, names: readonly string[]): string[] =>
    names.length === 0
      ? []
      : wrap(`${title}: ${names.join(', ')}.`, width - INDENT.length).map((line) => INDENT + line);
  return [
    ...(ops.length === 0 ? [] : ['Ops you could add next, by the number of known bugs they would catch:']),
    ...table(ops.slice(0, MOST_ROWS), width),
    ...told('Less', ops.slice(MOST_ROWS).map(nameOf)),
    ...(capabilities.length === 0 ? [] : ['Capabilities you could add to the ops you have:']),
    ...table(capabilities.slice(0, MOST_ROWS), width),
    ...told('Less', capabilities.slice(MOST_ROWS).map(nameOf)),
  ];
}

function table(reaches: readonly Reach[], width: number): string[] {
  const rows = reaches.map((reach) => [nameOf(reach), countsOf(reach), classesOf(reach)] as const);
  const widest = (at: 0 | 1): number => Math.max(0, ...rows.map((row) => row[at].length));
  const [names, counts] = [widest(0), widest(1)];
  const left = INDENT.length + names + GAP.length + counts + GAP.length;
  return rows.flatMap(([name, count, classes]) =>
    wrap(classes, width - left).map((line, at) =>
      at === 0
        ? `${INDENT}${pad(name, names)}${GAP}${pad(count, counts)}${GAP}${line}`
        : ' '.repeat(left) + line,
    ),
  );
}

/** A capability is written as it is declared. */
function nameOf({ op, capability, beside }: Reach): string {
  return capability === undefined ? [op, ...beside].join(' and ') : `${op}(${capability})`;
}

function countsOf({ bugs, properties }: Reach): string {
  return `${many(bugs.length, 'bug')}, ${properties.length === 1 ? '1 property' : `${properties.length} properties`}`;
}

/** The classes of the catalogue that have most of them. */
function classesOf({ bugs }: Reach): string {
  const counts = new Map<string, number>();
  for (const id of bugs) {
    const letters = id.split('-')[0] ?? '';
    counts.set(letters, (counts.get(letters) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_CLASSES)
    .flatMap(([letters]) => bugClasses[letters] ?? [])
    .join(', ');
}

const MOST_CLASSES = 3;

// What `mutate` found of each trainer as tables for a page: the counts, and why changes survive.
import { type Judged, type Mutation, scoreOf } from '../../src/mutate/events.ts';
import { type Survivor, shareFound, survivorsOf } from '../../src/report/mutate/mutate.ts';
import { EXPLAINED } from './explained.ts';

export interface Measured {
  readonly name: string;
  readonly what: string;
  readonly mutation: Mutation;
  /** Of the clock, all sittings together. */
  readonly milliseconds: number;
}

export const tableOf = (head: readonly string[], lines: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

export function countTable(all: readonly Measured[]): string {
  return tableOf(
    [
      'trainer',
      'changes',
      'reached by no op',
      'tried',
      'found',
      'by an error',
      'survive',
      'share',
      'minutes',
    ],
    all.map(({ name, what, mutation, milliseconds }) => {
      const score = scoreOf(mutation);
      const share = shareFound(score);
      return [
        `${name}: ${what}`,
        String(score.changes),
        String(score.unreached),
        String(score.found + score.survive + score.untried),
        String(score.found),
        String(score.byError),
        String(score.survive),
        share === undefined ? '' : `${(share * 100).toFixed(0)} %`,
        (milliseconds / 60_000).toFixed(1),
      ];
    }),
  );
}

/** Each survivor has one reason: the first that holds. */
const REASONS: readonly (readonly [reason: string, holds: (judged: Judged) => boolean])[] = [
  ['legal, and found once it is declared', ({ declare }) => declare !== undefined],
  [
    'the adapter declares what it reads from there; found once that is a value',
    ({ follows }) => follows !== undefined,
  ],
  ['no answer is another one', ({ answers }) => answers === 'same'],
  ['answers are other ones, and no property minds', () => true],
];

export function reasonTable(all: readonly Measured[]): string {
  const reasonOf = (judged: Judged): string => REASONS.find(([, holds]) => holds(judged))?.[0] ?? '';
  return tableOf(
    ['survive', ...REASONS.map(([reason]) => reason)],
    all.map(({ name, mutation }) => [
      name,
      ...REASONS.map(([reason]) =>
        String(survivorsOf(mutation).filter(({ judged }) => reasonOf(judged) === reason).length),
      ),
    ]),
  );
}

/** The lines of a table with a line a trainer, and those of the page for trainers that it has none of. In the order of `names`. */
export function withOthers(table: string, page: readonly string[], names: readonly string[]): string {
  const [head = '', rule = '', ...lines] = table.split('\n');
  const of = (name: string) => (line: string) =>
    line.startsWith(`| ${name}: `) || line.startsWith(`| ${name} |`);
  const kept = names.flatMap((name) => lines.find(of(name)) ?? page.find(of(name)) ?? []);
  return [head, rule, ...kept].join('\n');
}

/** All that survive, by why they do, with the functions that they stand in; those that nobody has explained are counted last. */
export function survivorTable(measured: Measured): {
  readonly table: string;
  readonly unexplained: readonly Survivor[];
} {
  const groups = new Map<string, Survivor[]>();
  const unexplained: Survivor[] = [];
  for (const survivor of survivorsOf(measured.mutation)) {
    const why = whyOf(measured.name, survivor);
    if (why === undefined) unexplained.push(survivor);
    else groups.set(why, [...(groups.get(why) ?? []), survivor]);
  }
  const rows = [...groups, ...(unexplained.length === 0 ? [] : [[UNEXPLAINED, unexplained] as const])];
  const lines = rows.map(([why, survivors]) => [
    cell(why),
    String(survivors.length),
    functionsOf(survivors),
    survivors.slice(0, 1).map(exampleOf).join(''),
  ]);
  return { table: tableOf(['why', 'survive', 'in', 'for example'], lines), unexplained };
}

const UNEXPLAINED = 'Not explained.';

function functionsOf(survivors: readonly Survivor[]): string {
  const files = new Map<string, Set<string>>();
  for (const { change, place } of survivors) {
    const file = place.slice(0, place.lastIndexOf(':')).split('/').at(-1) ?? '';
    files.set(file, (files.get(file) ?? new Set()).add(change.function.split('.').at(-1) ?? ''));
  }
  return [...files]
    .map(([file, names]) =>
      [`\`${file}\``, [...names].filter((name) => name !== '').map((name) => `\`${name}\``)].flat().join(' '),
    )
    .join(', ');
}

function exampleOf({ change }: Survivor): string {
  const text = change.after.replaceAll(/\s+/g, ' ').trim();
  return `${change.line}, ${change.kind}: \`\`${cell(text.length > MOST_EXAMPLE ? `${text.slice(0, MOST_EXAMPLE)}...` : text)}\`\``;
}

const MOST_EXAMPLE = 100;

/** What was seen to find it, or what a person has read in the code. What was not asked is no reason: nobody tried whether it finds it. */
export function whyOf(trainer: string, { change, judged, hints, place }: Survivor): string | undefined {
  if (judged.declare !== undefined || judged.follows !== undefined) return hints[0];
  return EXPLAINED.find(
    (each) =>
      each.trainer === trainer &&
      each.in.test(`${place.slice(0, place.lastIndexOf(':'))} ${change.function}`) &&
      each.line.test(`${change.before}\n${change.after}`) &&
      (each.answers === undefined || each.answers === judged.answers),
  )?.why;
}

/** On one line, and no column of its own. */
const cell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');

// What `mutate` found of each trainer as tables for a page: the counts, and why changes survive.
import { type Judged, type Mutation, scoreOf } from '../../src/mutate/events.ts';
import { type Survivor, shareFound, survivorsOf } from '../../src/report/mutate/mutate.ts';

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
    ['why it survives', ...all.map(({ name }) => name)],
    REASONS.map(([reason]) => [
      reason,
      ...all.map(({ mutation }) =>
        String(survivorsOf(mutation).filter(({ judged }) => reasonOf(judged) === reason).length),
      ),
    ]),
  );
}

/** Those that show in an answer, as lines of the sources. */
export function survivorTable({ mutation }: Measured): string {
  const shown = survivorsOf(mutation).filter(({ judged }) => judged.answers !== 'same');
  return tableOf(
    ['line', 'with the change', 'what would find it'],
    shown.map((survivor) => [
      `\`${survivor.place}\` ${survivor.change.kind}`,
      `\`\`${cell(survivor.change.after)}\`\``,
      cell(hintOf(survivor)),
    ]),
  );
}

const hintOf = ({ hints }: Survivor): string => hints[0] ?? '';

/** On one line, and no column of its own. */
const cell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');

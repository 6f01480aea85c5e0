// The mask carpet of a data set: rows in the order of the file, what of each is trained, and what is wrong.
import { isNote } from '../../../view/flags.ts';
import type { ViewedRow } from '../../../view/scan.ts';
import { plural } from '../../text/plural.ts';
import { marksOf, sharesOf, titleOf } from '../../view/view.ts';
import { BANDS } from '../failure/strip.ts';
import { html } from '../page/markup.ts';
import { readable } from '../page/text.ts';
import { swatch } from '../rows/carpet.ts';
import { type KeptRow, shownName } from '../rows/kept.ts';
import type { CarpetRow } from '../rows/lines.ts';
import { spansOf } from '../rows/looks.ts';
import { type Carpet, carpetSection } from '../rows/section.ts';

/** Nothing of fewer than two rows: those are read. `isShown`: token by token on the page, without being asked for. */
export function viewCarpet(
  kept: readonly ViewedRow[],
  all: number,
  isShown: (viewed: ViewedRow) => boolean,
): Carpet | undefined {
  if (kept.length < 2) return undefined;
  const rows = kept.toSorted((a, b) => a.number - b.number);
  const texts = new Map(rows.map((viewed) => [rowAnchor(viewed), viewed.texts]));
  const names = new Map<string, string>();
  const shown = (text: string): string => {
    const known = names.get(text) ?? shownName(text);
    names.set(text, known);
    return known;
  };
  const whole = kept.length === all ? 'this data set' : `the ${plural(kept.length, 'row')} that were kept`;
  return carpetSection({
    rows: rows.map((viewed) => ({ drawn: drawnRow(viewed, isShown(viewed)), kept: keptRow(viewed) })),
    nameOf: ({ anchor, ids }, at) => shown(texts.get(anchor)?.[at] ?? String(ids[at])),
    about: `A line is a row${kept.length === all ? '' : ` (${plural(kept.length, 'row')} of ${all.toLocaleString('en')}, flagged ones before others)`}, in the order of the file; a cell is a token.`,
    legend: html`<ul class="carpet-legend"><li>${swatch('p5')} trained</li><li>${swatch('u')} not trained</li><li>empty: padding</li><li>${swatch('wrong')} wrong</li><li><svg class="gutter swatch" width="9" height="14" aria-hidden="true"><path class="flag" d="M1 2l7 5l-7 5z"/></svg> flagged row</li></ul>`,
    corner: 'row',
    whole,
  });
}

export function rowAnchor({ number, form }: ViewedRow): string {
  return `row-${number}${form === 'rejected' ? '-rejected' : ''}`;
}

/** `messages · 38 tokens, 12 trained (32%)`. */
export function rowFacts({ row, form }: ViewedRow): string {
  const shares = row === undefined ? [] : [sharesOf(row.ids.length, row.trained.filter(Boolean).length)];
  return [...(form === undefined ? [] : [form]), ...shares].join(' · ');
}

export const isFlagged = ({ faults }: ViewedRow): boolean => faults.some(({ id }) => !isNote(id));

/** `✗ no-stop`, `note: cut`. */
export const faultHead = (id: ViewedRow['faults'][number]['id']): string =>
  `${isNote(id) ? 'note:' : '✗'} ${id}`;

// --- helpers ---

function drawnRow(viewed: ViewedRow, isShown: boolean): CarpetRow {
  const { row, faults, number } = viewed;
  const marks = new Set(marksOf(faults));
  const columns = row?.ids.length ?? 0;
  return {
    name: titleOf(viewed),
    facts: rowFacts(viewed),
    columns,
    looks: spansOf(columns, (at) => {
      if (row?.trained[at] === true) return 'p5';
      return row?.roles[at] === 'padding' ? undefined : 'u';
    }),
    frames: isFlagged(viewed) ? spansOf(columns, (at) => (marks.has(at) ? 'wrong' : undefined)) : [],
    flagged: isFlagged(viewed),
    ...(isShown ? { anchor: rowAnchor(viewed) } : {}),
    place: { label: String(number) },
  };
}

/** What is told of a token, made once: not trained, trained, and both where it is wrong. */
const TOLD = Object.fromEntries(
  Object.keys(BANDS).map((role) => [
    role,
    ['', ' · wrong'].flatMap((wrong) =>
      ['not trained', 'trained'].map((word) => `${role} · ${word}${wrong}`),
    ),
  ]),
) as Record<string, readonly string[]>;

function keptRow(viewed: ViewedRow): KeptRow {
  const { row, faults, form, number } = viewed;
  const marks = marksOf(faults);
  const wrong = new Set(isFlagged(viewed) ? marks : []);
  const columns = row?.ids.length ?? 0;
  const count = row?.trained.filter(Boolean).length ?? 0;
  const roleAt: KeptRow['roleAt'] = (at) => row?.roles[at] ?? 'prompt';
  const trainedAt = (at: number): boolean => row?.trained[at] === true;
  return {
    name: titleOf(viewed),
    anchor: rowAnchor(viewed),
    facts: rowFacts(viewed),
    said: faults.map(({ id, sentence }) => [faultHead(id), readable(sentence)]),
    flagged: isFlagged(viewed),
    ids: row?.ids ?? [],
    columns,
    roleAt,
    trainedAt,
    toldAt: (at) => TOLD[roleAt(at)]?.[Number(trainedAt(at)) + 2 * Number(wrong.has(at))] ?? '',
    marks,
    fields: {
      flag: faults.map(({ id }) => id),
      is: [
        isFlagged(viewed) ? 'flagged' : faults.length > 0 ? 'noted' : 'right',
        count > 0 ? 'trained' : 'untrained',
      ],
      row: [number],
      ...(form === undefined ? {} : { form: [form] }),
      tokens: [columns],
      trained: [columns === 0 ? 0 : Math.round((100 * count) / columns)],
    },
  };
}

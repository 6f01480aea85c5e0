// A data set's masks for a program: counts, what is wrong, and the rows that are shown as runs of tokens, each trained
// or not. docs/view.schema.json is its schema.

import { VERSION } from '../../version.ts';
import type { SettingFault } from '../../view/config/fault.ts';
import { isNote, textOf } from '../../view/flags.ts';
import type { View, ViewedRow } from '../../view/scan.ts';
import { harmless } from '../../visible.ts';
import { clipped } from '../text/visible.ts';
import { settingsOf, verdictOf } from './view.ts';

/** Grows when a reader of the old document would misread the new one. */
const SCHEMA = 1;
/** Of one row, and characters of one part: enough to see where a mask begins and ends. */
const MOST_PARTS = 64;
const MOST_CHARACTERS = 500;
/** Of one fault: the first says where to look. */
const MOST_COLUMNS = 8;

/**
 * @param of the file and the tokenizer, as the first line on a terminal has them
 * @param isWrong something is flagged; under --strict, noted
 */
export function viewJson(view: View, of: readonly string[], isWrong: boolean): string {
  const document = {
    schema: SCHEMA,
    version: VERSION,
    of,
    verdict: isWrong ? 'fail' : 'pass',
    sentence: verdictOf(view),
    rows: view.rows,
    flagged: view.flagged,
    unread: view.unread,
    tokens: view.tokens,
    trained: view.trained,
    roles: view.roles,
    assumed: view.assumed,
    findings: view.counts.map(({ id, rows, first, example }) => {
      const { what, todo } = textOf(id);
      return { id, weight: isNote(id) ? 'note' : 'flag', rows, first, what, todo, example };
    }),
    ...(view.settings === undefined ? {} : { settings: settingsOf(view).map(settingFacts) }),
    shown: view.kept.map(shownRow),
  };
  return JSON.stringify(document, (_key, value) => (typeof value === 'string' ? harmless(value) : value), 2);
}

const settingFacts = ({ key, line, sentence, note }: SettingFault): object => ({
  key,
  ...(line === undefined ? {} : { line }),
  weight: note === true ? 'note' : 'flag',
  sentence,
});

function shownRow(viewed: ViewedRow): object {
  const parts = partsOf(viewed);
  return {
    row: viewed.number,
    ...(viewed.form === undefined ? {} : { form: viewed.form }),
    faults: viewed.faults.map(({ id, sentence, columns }) => ({
      id,
      sentence,
      columns: columns.slice(0, MOST_COLUMNS),
    })),
    parts: parts.slice(0, MOST_PARTS),
    left_out: Math.max(0, parts.length - MOST_PARTS),
  };
}

interface Part {
  readonly role: string;
  readonly trained: boolean;
  /** The first column, and how many there are. */
  readonly from: number;
  readonly tokens: number;
  readonly text: string;
}

/** Neighbouring tokens of one role that are all trained, or all not. */
function partsOf({ row, texts }: ViewedRow): readonly Part[] {
  const parts: Part[] = [];
  for (const [at, id] of (row?.ids ?? []).entries()) {
    const role = row?.roles[at] ?? 'prompt';
    const trained = row?.trained[at] === true;
    // Ids without a tokenizer have spaces between them.
    const text = texts?.[at] ?? `${id} `;
    const last = parts.at(-1);
    if (last?.role === role && last.trained === trained)
      parts[parts.length - 1] = {
        ...last,
        tokens: last.tokens + 1,
        text: last.text.length > MOST_CHARACTERS ? last.text : last.text + text,
      };
    else parts.push({ role, trained, from: at, tokens: 1, text });
  }
  return parts.map((part) => ({ ...part, text: clipped(part.text, MOST_CHARACTERS) }));
}

// An adversarial training set: each row is a case, and all of them together cover what one traced run of a trainer should
// have met. Drawn from a seed, kind by kind, so that even few rows have every kind in them.
import fc from 'fast-check';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import { type DatasetForm, type Kind, kindsOf, type Sketch } from './kinds.ts';
import { type DatasetRow, partsOf, rowLabels, rowOf, tokensOf } from './rows.ts';

export { DATASET_FORMS, type DatasetForm } from './kinds.ts';
export type { DatasetRow } from './rows.ts';

export interface DatasetAsk {
  readonly form: DatasetForm;
  readonly rows: number;
  readonly seed: number;
  /** Tokens that a row may have. */
  readonly mostTokens: number;
  /** Its chat template says which roles it takes; without it, rows are user and assistant in turn. */
  readonly tokenizer?: Tokenizer | undefined;
  /** Some rows have a system message, calls of a tool, an empty answer. */
  readonly system: boolean;
  readonly tools: boolean;
  readonly empty: boolean;
}

export interface Dataset {
  readonly rows: readonly DatasetRow[];
  /** Rows that show it. */
  readonly labels: Readonly<Record<string, number>>;
  /** Labels that fewer rows show than should. */
  readonly thin: readonly { readonly label: string; readonly count: number; readonly least: number }[];
  /** Kinds of rows that no correct trainer could take, and why. */
  readonly left: readonly { readonly label: string; readonly why: string }[];
  /** Rows that have room for every kind. */
  readonly roomy: number;
}

/** The same rows for the same question. */
export function datasetOf(ask: DatasetAsk): Dataset {
  const { form, rows: count, tokenizer, mostTokens } = ask;
  const wanted = kindsOf(form).filter(({ only }) => only === undefined || ask[only]);
  const left = new Map<string, string>();
  const rows: DatasetRow[] = [];
  const usable = [...wanted];
  for (let at = 0; rows.length < count && usable.length > 0; ) {
    const kind = usable[at % usable.length];
    if (kind === undefined) break;
    const drawn = draw(kind, ask, rows);
    if ('why' in drawn) {
      usable.splice(at % usable.length, 1);
      left.set(kind.label ?? 'anything', drawn.why);
    } else {
      rows.push(drawn.row);
      at++;
    }
  }
  const labels = countLabels(rows, tokenizer, mostTokens);
  const least = Math.max(1, Math.floor(rows.length * LEAST_SHARE));
  return {
    rows: shuffled(rows, ask.seed),
    labels,
    thin: usable.flatMap(({ label }) =>
      label === undefined || (labels[label] ?? 0) >= least
        ? []
        : [{ label, count: labels[label] ?? 0, least }],
    ),
    left: [...left].map(([label, why]) => ({ label, why })),
    roomy: usable.length,
  };
}

// --- helpers ---

/** Of a label that a kind is there for; far below what is drawn. */
const LEAST_SHARE = 0.02;
/** Draws of a kind until one fits: a template that takes none of so many takes none. */
const TRIES = 40;
/** Keeps the seeds of rows and tries apart; prime, so that they do not meet. */
const STRIDE = 7919;

function draw(
  kind: Kind,
  ask: DatasetAsk,
  before: readonly DatasetRow[],
): { readonly row: DatasetRow } | { readonly why: string } {
  const { form, seed, tokenizer, mostTokens } = ask;
  let why = '';
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const own = (seed + STRIDE * (before.length * TRIES + attempt)) % 0x7fff_ffff;
    const [sketch] = fc.sample(kind.sketch(tokenizer), { seed: own, numRuns: 1 });
    if (sketch === undefined) break;
    const row = filled(sketch, again(rowOf(sketch, form), sketch, before), ask);
    const tokens = tokensOf(row, tokenizer);
    const { prompts } = partsOf(row);
    if (typeof tokens !== 'number') why = tokens.why;
    else if (tokens > mostTokens) why = `No row of it has ${mostTokens} tokens or fewer.`;
    else if (form === 'prompt' && tokenizer?.encode(prompts[0] ?? '').length === 0)
      why = 'The tokenizer makes no token of its prompts.';
    else if (kind.label !== undefined && !shows(kind.label, row, ask, before)) why = 'No row of it shows it.';
    else return { row };
  }
  return { why };
}

/** Its own answers behind another row's prompts, or that row itself. */
function again(row: DatasetRow, { again: how }: Sketch, before: readonly DatasetRow[]): DatasetRow {
  const other = how === undefined ? undefined : before.at(-1 - (how.back % Math.max(1, before.length)));
  if (how === undefined || other === undefined) return row;
  if (how.of === 'row' || !('messages' in row) || !('messages' in other))
    return how.of === 'row' || 'messages' in row || 'messages' in other
      ? other
      : { ...row, prompt: other.prompt };
  const answer = row.messages.at(-1);
  const kept = other.messages.slice(0, -1);
  return { ...other, messages: answer === undefined ? kept : [...kept, answer] };
}

/** Its last prompt made longer, by words and then by letters, as far as there is room. */
function filled({ filling }: Sketch, row: DatasetRow, { tokenizer, mostTokens }: DatasetAsk): DatasetRow {
  if (filling === undefined) return row;
  const byWords = longest(row, filling.join(' ').split(' '), tokenizer, mostTokens);
  return longest(byWords, Array<string>(FEW).fill('I'), tokenizer, mostTokens);
}

/** Words are longer than letters, by no more tokens than these. */
const FEW = 16;

/** By halving: more words are more tokens. */
function longest(
  row: DatasetRow,
  words: readonly string[],
  tokenizer: Tokenizer | undefined,
  most: number,
): DatasetRow {
  let [fits, over] = [0, words.length + 1];
  while (over - fits > 1) {
    const half = Math.floor((fits + over) / 2);
    const tokens = tokensOf(withMore(row, words.slice(0, half).join(' ')), tokenizer);
    if (typeof tokens === 'number' && tokens <= most) fits = half;
    else over = half;
  }
  return fits === 0 ? row : withMore(row, words.slice(0, fits).join(' '));
}

function withMore(row: DatasetRow, word: string): DatasetRow {
  if (!('messages' in row)) return { ...row, prompt: `${row.prompt} ${word}` };
  const last = row.messages.findLastIndex(({ role }) => role === 'user');
  return {
    ...row,
    messages: row.messages.map((message, at) =>
      at === last ? { ...message, content: `${message.content} ${word}` } : message,
    ),
  };
}

const promptsOf = (row: DatasetRow): string =>
  'messages' in row ? JSON.stringify(row.messages.slice(0, -1)) : row.prompt;

function shows(label: string, row: DatasetRow, ask: DatasetAsk, before: readonly DatasetRow[]): boolean {
  if (label === AGAIN) return before.some((other) => promptsOf(other) === promptsOf(row));
  if (label === TWICE) return before.some((other) => JSON.stringify(other) === JSON.stringify(row));
  return rowLabels(row, ask.tokenizer, ask.mostTokens).includes(label);
}

const AGAIN = 'prompt of another row';
const TWICE = 'row that stands there twice';

function countLabels(
  rows: readonly DatasetRow[],
  tokenizer: Tokenizer | undefined,
  most: number,
): Record<string, number> {
  const counts: Record<string, number> = {};
  const seen = { prompts: new Set<string>(), rows: new Set<string>() };
  const count = (label: string): void => {
    counts[label] = (counts[label] ?? 0) + 1;
  };
  for (const row of rows) {
    for (const label of rowLabels(row, tokenizer, most)) count(label);
    const [prompts, whole] = [promptsOf(row), JSON.stringify(row)];
    if (seen.prompts.has(prompts)) count(AGAIN);
    if (seen.rows.has(whole)) count(TWICE);
    seen.prompts.add(prompts);
    seen.rows.add(whole);
  }
  return counts;
}

/** Neighbours, which share a batch, are of any two kinds. */
function shuffled<Item>(items: readonly Item[], seed: number): readonly Item[] {
  const all = fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length });
  return fc.sample(all, { seed, numRuns: 1 })[0] ?? items;
}

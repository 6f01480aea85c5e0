// What a traced script trained, for a program: every row with its tokens, targets and weights, the steps, and the verdicts.
// Token-aligned like the ledger: index t speaks of token t as a target.
import type { PropertyResult } from '../../check/events.ts';
import type { Ledger, LedgerRow } from '../../trace/ledger.ts';
import { FAILING } from '../../vocabulary.ts';
import { saidOf } from '../failure/failure.ts';
import { tooFewJudged } from '../text/table.ts';
import { originOf, stripOfRow } from '../trace/rows.ts';
import { stepSums } from '../trace/steps.ts';

export interface LedgerFacts {
  readonly ledger: Ledger;
  readonly results: readonly PropertyResult[];
  /** What could not be seen, a sentence each. */
  readonly unseen: readonly string[];
}

/** One JSON object. */
export function ledgerJson({ ledger, results, unseen }: LedgerFacts): string {
  const { rows, models, settings, tokenizer, versions } = ledger;
  return `${JSON.stringify({
    version: 1,
    unseen,
    verdicts: results.map((result) => ({
      id: result.id,
      title: result.title,
      verdict: result.verdict,
      fails: FAILING.includes(result.verdict),
      sentence: sentenceOf(result),
    })),
    models: models.map(({ rank, role, name }) => ({ rank, role, name })),
    settings: { from: settings.from, semantics: settings.semantics },
    tokenizer: tokenizer?.name ?? null,
    versions,
    steps: stepSums(ledger),
    rows: rows.map((row) => rowFacts(row, tokenizer)),
  })}\n`;
}

// --- helpers ---

/** Of a rule that holds only what it left out, where that is much. */
const sentenceOf = (result: PropertyResult): string =>
  result.verdict === 'pass' ? (tooFewJudged(result) ?? '') : (saidOf(result.failure) ?? result.reason ?? '');

function rowFacts(row: LedgerRow, tokenizer: Ledger['tokenizer']): Readonly<Record<string, unknown>> {
  const { step, rank, forward, model, ids, real, trained, spans, reached, logprobs } = row;
  const { tokens } = stripOfRow({ row, marks: [] }, tokenizer);
  const at = ids.map((_, column) => column);
  const isTrained = at.map((column) => trained[column] !== undefined && trained[column]?.weight !== 0);
  const texts = tokens.slice(0, ids.length).map(({ text }) => text);
  const textOf = (columns: readonly number[]): string =>
    tokenizer === undefined
      ? columns.map((column) => texts[column]).join(' ')
      : tokenizer.decode(columns.map((column) => ids[column] ?? 0));
  return {
    step,
    rank,
    forward,
    row: row.row,
    model,
    reached,
    ids,
    tokens: texts,
    real,
    roles: spans.roles,
    /** Whether each token is trained, and should be; null: either is right, or nobody knows. */
    trained: isTrained,
    expected: at.map((column) => spans.expected[column] ?? null),
    /** Null: not trained, or not read off. */
    targets: at.map((column) => trained[column]?.target ?? null),
    weights: at.map((column) => trained[column]?.weight ?? null),
    logprobs: logprobs === undefined ? null : logprobs.map((each) => (Number.isFinite(each) ? each : null)),
    trained_behind_the_end: trained[ids.length] !== undefined,
    text: textOf(at.filter((column) => real[column])),
    trained_text: textOf(at.filter((column) => isTrained[column])),
    origin: originOf(row),
  };
}

// Models that predict no token: reward models, critics, classifiers. Whole steps of theirs are judged where they are all that
// is trained. Beside a language model they make no step of their own, and their records are left out.
import type { Ledger, LedgerModel, Spans } from './ledger.ts';
import type { ReadRecord } from './records/shapes.ts';

/** Whether all that is trained gives scores. */
export function scoresOnly({ models }: Pick<Ledger, 'models'>): boolean {
  const trained = models.filter(({ role }) => role === 'policy');
  return trained.length > 0 && trained.every(isScorer);
}

/** The tracer saw no head with an output for each token. */
export const isScorer = ({ vocab_size }: Pick<LedgerModel, 'vocab_size'>): boolean => vocab_size === 0;

/** Nobody expects anything of single tokens. */
export const withoutExpectation = (spans: Spans): Spans => ({
  ...spans,
  expected: spans.expected.map(() => undefined),
});

/** The records of all processes, those of scorers only where no language model is trained in any of them. */
export function withoutBystanders(
  all: readonly (readonly ReadRecord[])[],
): readonly (readonly ReadRecord[])[] {
  const processes = all.map(asScorers);
  if (!processes.some(trainsTokens)) return processes;
  return processes.map((records) => {
    const scorers = scorersIn(records);
    return scorers.size === 0 ? records : withoutModels(records, scorers);
  });
}

// --- helpers ---

/** Residuals of hidden states that another head reads: their gradient has no part that a token explains. */
const NO_PART = 0.5;
/** Those of tokens. */
const EXPLAINED = 0.1;

/**
 * A language model whose own head is not in the loss, as a critic that is one with a value head over its hidden states: no
 * token explains anything of their gradient, while tokens explain that of another model.
 */
function asScorers(records: readonly ReadRecord[]): readonly ReadRecord[] {
  const models = new Map(
    records.flatMap((each) => (each.kind === 'forward' ? [[each.forward, each.model] as const] : [])),
  );
  const critics = new Set<number | undefined>();
  const others = new Set<number | undefined>();
  for (const each of records) {
    if (each.kind !== 'trained' || each.residuals.length === 0) continue;
    const isBeside = each.route === 'hidden' && each.residuals.every((residual) => residual > NO_PART);
    (isBeside ? critics : others).add(models.get(each.forward));
  }
  const isExplained = records.some(
    (each) => each.kind === 'trained' && each.residuals.some((residual) => residual < EXPLAINED),
  );
  if (!isExplained) return records;
  return records.map((each) =>
    each.kind === 'model' && critics.has(each.model) && !others.has(each.model)
      ? { ...each, vocab_size: 0 }
      : each,
  );
}

function scorersIn(records: readonly ReadRecord[]): ReadonlySet<number> {
  return new Set(records.flatMap((each) => (each.kind === 'model' && isScorer(each) ? [each.model] : [])));
}

function trainsTokens(records: readonly ReadRecord[]): boolean {
  const scorers = scorersIn(records);
  const models = new Map(
    records.flatMap((each) => (each.kind === 'forward' ? [[each.forward, each.model] as const] : [])),
  );
  return records.some((each) =>
    each.kind === 'step'
      ? each.models.some((model) => !scorers.has(model))
      : each.kind === 'trained' && !scorers.has(models.get(each.forward) ?? Number.NaN),
  );
}

function withoutModels(records: readonly ReadRecord[], gone: ReadonlySet<number>): readonly ReadRecord[] {
  const forwards = new Set<number>();
  return records.flatMap((each): ReadRecord[] => {
    if (each.kind === 'step') return [{ ...each, models: each.models.filter((model) => !gone.has(model)) }];
    if (each.kind === 'forward' && gone.has(each.model)) forwards.add(each.forward);
    if (each.kind === 'trained' && forwards.has(each.forward)) return [];
    return 'model' in each && typeof each.model === 'number' && gone.has(each.model) ? [] : [each];
  });
}

// What else than single targets was recognised in a loss, in words; and how much of it is not known.
import { show } from '../check/numbers.ts';
import type { Ledger, LedgerRow } from './ledger.ts';
import type { TermRecord } from './records/records.ts';
import { isOpen, targetsOf, weightsOf } from './weights.ts';

/** "label smoothing 0.1", "0.5 cross-entropy + 0.5 KL to model 1 at temperature 1.5": each once, as the steps have them. */
export function lossWords(ledger: Ledger): readonly string[] {
  const steps = new Map<string, LedgerRow[]>();
  for (const row of ledger.rows) {
    if (row.terms === undefined) continue;
    const key = `${row.step} ${row.rank} ${row.model}`;
    steps.set(key, [...(steps.get(key) ?? []), row]);
  }
  const words = [...steps.values()].map((rows) => wordsOf(rows, mates(ledger, rows)));
  return [...new Set(words)];
}

export interface Unknown {
  /** Positions with a gradient whose target and weight are not known, as nothing explains it. */
  readonly open: number;
  /** All positions with a gradient. */
  readonly all: number;
}

export function unknownIn(rows: readonly LedgerRow[]): Unknown {
  const trained = rows.flatMap((row) =>
    row.trained.filter((each) => each !== undefined && each.weight !== 0),
  );
  return { open: trained.filter((each) => each !== undefined && isOpen(each)).length, all: trained.length };
}

// --- helpers ---

function mates({ rows }: Ledger, [first]: readonly LedgerRow[]): readonly LedgerRow[] {
  return rows.filter(
    ({ step, rank, model }) => step === first?.step && rank === first.rank && model === first.model,
  );
}

function wordsOf(rows: readonly LedgerRow[], all: readonly LedgerRow[]): string {
  // Every row of a forward pass has the terms of all of it.
  const forwards = new Map(rows.map(({ forward, terms = [] }) => [forward, terms]));
  const terms = [...forwards.values()].flat();
  const of = (kind: TermRecord['kind']): TermRecord[] => terms.filter((term) => term.kind === kind);
  return [
    ...teacherWords(of('teacher'), all),
    ...of('smoothing')
      .slice(0, 1)
      .map(({ epsilon }) => `label smoothing ${number(epsilon)}`),
    ...of('softcap')
      .slice(0, 1)
      .map(({ cap }) => `softcap ${number(cap)}`),
    ...entropyWords(of('entropy')),
    ...of('normalizer')
      .slice(0, 1)
      .map(({ rewarded }) =>
        rewarded === true
          ? 'a term that rewards large logits (a z-loss with the wrong sign)'
          : 'a term on the size of the logits (a z-loss)',
      ),
  ].join(', ');
}

function teacherWords(terms: readonly TermRecord[], rows: readonly LedgerRow[]): string[] {
  const [first] = terms;
  if (first === undefined) return [];
  const known = sumOf(terms);
  const { temperature } = first;
  // b is read off b t (p - q), which is t^2 KL times b, and KL times b t^2: nothing in a gradient tells which of the two was written.
  const read =
    known === undefined || typeof temperature !== 'number' || temperature === 1
      ? ''
      : ` (with the factor T²; ${number(known * temperature ** 2)} without it)`;
  const to = `${DIVERGENCES[first.toward ?? '']?.(first) ?? 'KL'} to model ${first.model ?? '?'} at temperature ${number(first.temperature)}${read}`;
  const weights = rows.flatMap(targetsOf);
  const alone = weights.every(({ trained: { weight } }) => weight === undefined || weight === 0);
  if (alone) return [`${known === undefined ? '' : `${number(known)} `}${to}, and no target tokens`];
  const tokens = weightsOf(weights).reduce((sum, { value }) => sum + value, 0);
  return known === undefined
    ? [`cross-entropy + ${to}`]
    : [`${number(tokens)} cross-entropy + ${number(known)} ${to}`];
}

const DIVERGENCES: Readonly<Record<string, (term: TermRecord) => string>> = {
  reverse: () => 'reverse KL',
  jsd: ({ mixed }) => `Jensen-Shannon divergence (${number(mixed)} of the teacher)`,
};

function entropyWords(terms: readonly TermRecord[]): string[] {
  const [first] = terms;
  if (first === undefined) return [];
  const sum = sumOf(terms);
  const what = first.rewarded ? 'the loss rewards entropy' : 'the loss punishes entropy';
  return [`entropy term${sum === undefined ? '' : ` ${number(Math.abs(sum))}`} (${what})`];
}

function sumOf(terms: readonly TermRecord[]): number | undefined {
  const sums = terms.map(({ sum }) => sum);
  return sums.every((sum) => typeof sum === 'number') ? sums.reduce((a, b) => a + b, 0) : undefined;
}

/** Read off gradients: three digits are what anybody wrote. */
const number = (value: number | null | undefined): string =>
  typeof value === 'number' ? show(Number(value.toPrecision(3))) : '?';

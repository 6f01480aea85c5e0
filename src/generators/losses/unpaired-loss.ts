// What completions that are labelled one by one are trained with: log-probabilities of their tokens, a label each, and those of the
// completions of other rows that the KL is estimated from.
import fc from 'fast-check';
import { twinned } from '../rarely.ts';
import { completionNumbers, type PairToken, withUnlikely } from '../rows/pairs.ts';

export interface LabelledRow {
  readonly desirable: boolean;
  readonly tokens: readonly PairToken[];
  /** The same prompt with the completion of another row. */
  readonly kl: readonly PairToken[];
}

export interface Labelled {
  readonly rows: readonly LabelledRow[];
}

const MAX_ROWS = 4;
const EXTREME_ONE_IN = 3;

/** An arbitrary batch for op `unpaired_preference_loss`; `extremes`: a token of some rows, or of their KL, is hopeless. */
export function labelledRows(
  options: { readonly minRows?: number; readonly extremes?: boolean } = {},
): fc.Arbitrary<Labelled> {
  const far = options.extremes
    ? fc.nat(2 * EXTREME_ONE_IN - 1).map((n) => (n === 1 ? 'tokens' : n === 2 ? 'kl' : undefined))
    : fc.constant(undefined);
  const row = fc
    .record({ desirable: fc.boolean(), tokens: completionNumbers(), kl: completionNumbers(), far })
    .map(
      ({ far: which, ...drawn }): LabelledRow =>
        which === undefined ? drawn : { ...drawn, [which]: withUnlikely(drawn[which]) },
    );
  return twinned(fc.array(row, { minLength: options.minRows ?? 1, maxLength: MAX_ROWS, size: 'max' })).map(
    (rows) => ({ rows }),
  );
}

/** What a case of `unpaired_preference_loss` exercises. */
export function labelledRowLabels({ rows }: Labelled): string[] {
  const found: string[] = [];
  const ratios = rows.flatMap(({ kl }) => kl.map(({ logprob, ref }) => logprob - ref));
  const kl = ratios.reduce((sum, ratio) => sum + ratio, 0);
  if (rows.length > 1) found.push('several rows');
  found.push(
    new Set(rows.map(({ desirable }) => desirable)).size > 1 ? 'both kinds of rows' : 'one kind of rows',
  );
  if (kl !== 0) found.push(kl > 0 ? 'a KL above 0' : 'a KL below 0');
  if (rows.some((row) => [...row.tokens, ...row.kl].some(({ logprob }) => logprob < HOPELESS)))
    found.push('an extreme log-ratio');
  return found;
}

/** Below what is drawn without extremes. */
const HOPELESS = -1000;

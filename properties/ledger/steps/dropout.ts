// Dropout: off where log-probabilities are taken to be compared with and where a model is evaluated, on where it is trained.
import type { Ledger, LedgerNotice, LedgerProperty, LedgerRow, ScoredRow } from '../../../src/index.ts';
import { show } from '../../../src/index.ts';
import { asides, type Found, idsStrip, judgementOf, placeOf } from '../words.ts';
import { groupedBy, plural, pushedIn } from './made.ts';

const dropout: LedgerProperty = {
  id: 'update/scoring-is-without-dropout',
  title: 'Log-probabilities to be compared with are taken without dropout',
  stage: 'update',
  level: 'should',
  why: 'Old or reference log-probabilities of a model in training mode are of another network each time: ratios begin away from 1, and the KL is noise.',
  catches: ['OPT-13'],
  needs: ({ rows, scored }) =>
    scored.length > 0 || rows.some(({ dropoutOff }) => dropoutOff !== undefined)
      ? undefined
      : 'no forward pass without gradients was seen, and no dropout',
  judge: (ledger) => {
    const trained = groupedBy(ledger.rows, ({ ids }) => ids.join(' '));
    const pairs = ledger.scored.flatMap((row) => {
      const twin = trained
        .get(row.ids.join(' '))
        ?.find((each) => each.step === row.step || row.by === 'reference');
      return twin === undefined ? [] : [{ row, twin }];
    });
    const known = areScored(ledger) ? pairs : pairs.filter(({ row }) => row.by === 'reference');
    const wrong = known.filter(
      ({ row, twin }) => row.dropout !== undefined && (row.by === 'reference' || differ(row, twin)),
    );
    const notices = offIn(ledger);
    return {
      ...judgementOf(
        known.length,
        [
          ...asides(ledger.scored.length - pairs.length, 'the scored row is not trained in its step'),
          ...asides(pairs.length - known.length, 'few of the trained rows were scored by the policy'),
        ],
        wrong.map(({ row, twin }) => scoredWith(ledger, row, twin)),
      ),
      ...(notices.length === 0 ? {} : { notices }),
    };
  },
};

/** A ratio needs log-probabilities of all rows. Where few have any, a batch was only tried out. */
function areScored({ rows, scored }: Ledger): boolean {
  const ids = new Set(scored.flatMap((row) => (row.by === 'policy' ? [row.ids.join(' ')] : [])));
  const trained = rows.filter(({ reached }) => reached);
  return trained.filter((row) => ids.has(row.ids.join(' '))).length * 2 > trained.length;
}

/** More than rounding, at some token. */
function differ({ logprobs = [] }: ScoredRow, twin: LedgerRow): boolean {
  return logprobs.some((value, column) => {
    const other = twin.logprobs?.[column];
    return other !== undefined && Math.abs(value - other) > MOST_ROUNDING;
  });
}
const MOST_ROUNDING = 0.01;

function scoredWith(ledger: Ledger, row: ScoredRow, twin: LedgerRow): Found {
  const who = row.by === 'reference' ? 'the reference' : 'the policy';
  const gaps = (row.logprobs ?? []).map((value, column) =>
    Math.abs(value - (twin.logprobs?.[column] ?? Number.NaN)),
  );
  const most = Math.max(0, ...gaps.filter(Number.isFinite));
  const worst = gaps.indexOf(most);
  return {
    harm: most,
    tell: () => ({
      kind: row.by,
      sentence: `The log-probabilities of ${placeOf(ledger, row)} are taken from ${who} ${modeOf(row)}${row.by === 'policy' ? `: with the same ids and weights the training pass has others, by up to ${show(most)}` : ''}.`,
      ...(row.by === 'policy' && worst >= 0
        ? {
            strips: [
              idsStrip(
                ledger,
                row,
                twin.spans.roles,
                { scored: row.logprobs ?? [], trained: twin.logprobs ?? [] },
                [worst],
              ),
            ],
          }
        : {}),
      note:
        row.training === false
          ? HOW
          : 'Call eval() on the model before scoring, and train() after it; or train without dropout.',
      given: { step: row.step, forward: row.forward, row: row.row, dropout: row.dropout, input_ids: row.ids },
    }),
  };
}

/** "in training mode, with dropout of 0.1". */
function modeOf({ training, dropout: p = 0 }: ScoredRow): string {
  return training === false
    ? `in evaluation mode, with dropout of ${show(p)} all the same`
    : `in training mode, with dropout of ${show(p)}`;
}

const HOW =
  'F.dropout needs training=self.training, and scaled_dot_product_attention a dropout_p of 0 in evaluation mode.';

/** Training in evaluation mode: dropout may be off on purpose. */
function offIn(ledger: Ledger): readonly LedgerNotice[] {
  const rows = ledger.rows.filter((row) => row.reached && pushedIn([row]) > 0);
  const off = rows.filter((row) => row.dropoutOff !== undefined && row.dropout === undefined);
  const [first] = off;
  if (first === undefined) return [];
  const before = rows.some((row) => row.dropout !== undefined && row.step < first.step);
  return [
    {
      // A training that begins so may be meant. One that changes to it has left it on after a validation.
      asked: before,
      sentence: `${before ? `From step ${first.step} on the` : 'The'} model is trained in evaluation mode: dropout of ${show(first.dropoutOff ?? 0)} is off in ${plural(new Set(off.map(({ forward }) => forward)).size, 'forward pass', 'forward passes')} with gradients${before ? ', and was on before' : ''}. Right where that is meant; else call train() ${before ? 'after the validation' : 'before the loop'}.`,
      answers: [],
    },
  ];
}

// --- evaluation ---

const evaluation: LedgerProperty = {
  id: 'update/evaluation-is-without-dropout',
  title: 'A model is evaluated without dropout',
  stage: 'update',
  level: 'should',
  why: 'The loss of an evaluation with dropout is too high and noisy: checkpoints are chosen by chance, and early stopping stops too early.',
  catches: ['OPT-13'],
  needs: (ledger) =>
    evaluatedIn(ledger).length > 0
      ? undefined
      : 'no evaluation was seen: rows without gradients, and with labels or after a step',
  judge: (ledger) => {
    const rows = evaluatedIn(ledger);
    const wrong = rows.filter(({ dropout: p }) => p !== undefined);
    const [first] = wrong;
    return {
      ...judgementOf(rows.length, [], []),
      ...(first === undefined ? {} : { notices: [evaluatedWith(first, wrong)] }),
    };
  },
};

/** Rows that the policy is evaluated on. What is trained in the same step is scored, or computed again in the backward pass. */
function evaluatedIn({ scored, rows, generations }: Ledger): readonly ScoredRow[] {
  const trained = new Set(rows.map(({ step, ids }) => `${step} ${ids.join(' ')}`));
  const apart = scored.filter(
    ({ by, step, ids }) => by === 'policy' && !trained.has(`${step} ${ids.join(' ')}`),
  );
  // Without labels: samples may be scored that no step trains, or rows that a loss needs in each step (KTO). What is called before
  // the first step may only be tried out.
  const labelled = apart.filter((row) => row.labelled === true);
  const bare = apart.filter((row) => row.labelled !== true);
  return generations.length === 0 && bare.every(({ step }) => step > 0) ? apart : labelled;
}

function evaluatedWith(first: ScoredRow, wrong: readonly ScoredRow[]): LedgerNotice {
  const passes = plural(new Set(wrong.map(({ forward }) => forward)).size, 'forward pass', 'forward passes');
  return {
    sentence: `${plural(wrong.length, 'row is', 'rows are')} evaluated in ${passes} without gradients, ${first.step === 0 ? 'before step 0' : `after step ${first.step - 1}`}, by a model ${modeOf(first)}. ${first.training === false ? HOW : 'Call eval() before the evaluation, and train() after it.'} Right where the noise is meant.`,
    answers: [],
    asked: true,
  };
}

export const dropoutProperties: readonly LedgerProperty[] = [dropout, evaluation];

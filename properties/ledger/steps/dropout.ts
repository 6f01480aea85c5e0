// Dropout: off where log-probabilities are taken to be compared with, on where the model is trained.
import type { Ledger, LedgerNotice, LedgerProperty, LedgerRow, ScoredRow } from '../../../src/index.ts';
import { show } from '../../../src/index.ts';
import { type Found, idsStrip, judgementOf, placeOf } from '../words.ts';
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
    const wrong = pairs.filter(
      ({ row, twin }) => row.dropout !== undefined && (row.by === 'reference' || differ(row, twin)),
    );
    const notices = offIn(ledger);
    return {
      ...judgementOf(
        pairs.length,
        ledger.scored.length - pairs.length,
        wrong.map(({ row, twin }) => scoredWith(ledger, row, twin)),
      ),
      ...(notices.length === 0 ? {} : { notices }),
    };
  },
};

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
      sentence: `The log-probabilities of ${placeOf(ledger, row)} are taken from ${who} in training mode, with dropout of ${show(row.dropout ?? 0)}${row.by === 'policy' ? `: with the same ids and weights the training pass has others, by up to ${show(most)}` : ''}.`,
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
      note: 'Call eval() on the model before scoring, and train() after it; or train without dropout.',
      given: { step: row.step, forward: row.forward, row: row.row, dropout: row.dropout, input_ids: row.ids },
    }),
  };
}

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

export const dropoutProperties: readonly LedgerProperty[] = [dropout];

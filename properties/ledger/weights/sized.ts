// A z-loss: a term on the size of the logits beside the likelihood. Which way it pushes them.
import type { LedgerProperty } from '../../../src/index.ts';
import { plural } from '../steps/made.ts';
import { judgementOf, placeOf } from '../words.ts';

export const sizedDown: LedgerProperty = {
  id: 'trace/z-loss-keeps-logits-small',
  title: 'A term on the size of the logits pushes it down',
  stage: 'trace',
  level: 'should',
  why: 'A z-loss with the wrong sign rewards large logits: they grow until half precision overflows, and the loss falls without bound.',
  catches: [],
  needs: ({ rows }) =>
    rows.some(({ terms }) => terms?.some(({ kind }) => kind === 'normalizer'))
      ? undefined
      : 'the loss has no term on the size of the logits',
  judge: (ledger) => {
    // Every row of a forward pass has the terms of all of it.
    const passes = new Map(ledger.rows.map((row) => [`${row.rank} ${row.forward}`, row]));
    const signs = [...passes.values()].flatMap((row) =>
      (row.terms ?? []).flatMap(({ kind, rewarded }) =>
        kind === 'normalizer' ? [{ row, rewarded: rewarded ?? undefined }] : [],
      ),
    );
    const known = signs.filter(({ rewarded }) => rewarded !== undefined);
    const wrong = known.filter(({ rewarded }) => rewarded);
    const judgement = judgementOf(
      known.length,
      signs
        .filter(({ rewarded }) => rewarded === undefined)
        .map(() => 'which way it pushes could not be read'),
      [],
    );
    const [first] = wrong;
    if (first === undefined) return judgement;
    return {
      ...judgement,
      notices: [
        {
          sentence: `In ${plural(wrong.length, 'forward pass', 'forward passes')}, as that of ${placeOf(ledger, first.row)}, a term of the loss rewards large logits: a z-loss with the wrong sign does this. Add coefficient * logsumexp(logits)**2 to the loss, with a coefficient above 0.`,
          answers: [],
          asked: true,
        },
      ],
    };
  },
};

// The loss that balances experts: of each known way its coefficient is solved for on one batch, and held against others, in which
// layers, choices, rows and micro-batches are not alike.
import { type Routing, routedBatch, routing } from '../../../generators/losses/balance-loss.ts';
import { type BalanceSettings, balanceLoss, describeBalance } from '../../../reference/index.ts';
import { CHOICES } from '../../../vocabulary.ts';
import { bandOf, many } from '../../numbers.ts';
import type { World } from '../../property.ts';
import { draw, misfitOf, type Probe, settled, type Variant } from '../probe.ts';

interface BalanceWay extends Variant {
  readonly settings: BalanceSettings;
}

export const balanceWay: Probe<Routing> = {
  id: 'balance_loss',
  items: ['balance_coef', 'balance_counts', 'balance_scores', 'balance_layers', 'balance_scope'],
  ops: ['balance_loss'],
  variants: async (subject) => {
    const args = argsOf(UNLIKE, subject);
    const { loss } = await subject.ask('balance_loss', args);
    const blur = Math.max(SOLVED, bandOf(subject, termsOf(UNLIKE)).relative);
    const ways = waysIn(subject).map((way): BalanceWay => {
      const once = balanceLoss(args, { ...way, coef: 1 }).loss;
      return wayOf({ ...way, coef: settled(loss / once, blur, subject.semantics.balance_coef) });
    });
    const known = ways.filter(({ settings: { coef } }) => Math.abs(coef) > LEAST);
    return known.length > 0 ? known : ways.map(({ settings }) => wayOf({ ...settings, coef: 1 }));
  },
  cases: (_, drawn) => [UNLIKE, ...BY_HAND, ...draw(routing({ minRows: 2 }), drawn)],
  async fits(subject, given, variants) {
    const args = argsOf(given, subject);
    const { loss: observed } = await subject.ask('balance_loss', args);
    const band = bandOf(subject, termsOf(given));
    const where = `the loss of ${many(given.rows.length, 'row')}`;
    return (variants as readonly BalanceWay[]).map(({ settings }) =>
      misfitOf([{ where, expected: balanceLoss(args, settings).loss, observed }], (want) => {
        // The coefficient multiplies a number near top_k, whose rounding it makes smaller as well.
        const scale = Math.min(1, Math.abs(settings.coef));
        return scale * band.allowed(want / scale);
      }),
    );
  },
};

function waysIn({ hello }: World): Omit<BalanceSettings, 'coef'>[] {
  const { balance_counts, balance_scores, balance_layers, balance_scope } = CHOICES;
  const splits = hello.ops.balance_loss?.micro_batches === true;
  return balance_counts.values.flatMap((counts) =>
    balance_scores.values.flatMap((scores) =>
      balance_layers.values.flatMap((layers) =>
        balance_scope.values
          .filter((scope) => splits || scope !== 'micro-batch')
          .map((scope) => ({ counts, scores, layers, scope })),
      ),
    ),
  );
}

const wayOf = (settings: BalanceSettings): BalanceWay => ({
  name: describeBalance(settings),
  items: {
    balance_coef: settings.coef,
    balance_counts: settings.counts,
    balance_scores: settings.scores,
    balance_layers: settings.layers,
    balance_scope: settings.scope,
  },
  settings,
});

/** Of whoever is handed no micro-batches the batch is one. */
function argsOf(given: Routing, { hello }: World) {
  const args = routedBatch(given);
  return hello.ops.balance_loss?.micro_batches === true
    ? args
    : { ...args, micro_batches: [given.rows.map((_, row) => row)] };
}

const termsOf = ({ rows, layers }: Routing): number =>
  layers * rows.reduce((sum, { tokens }) => sum + tokens.length, 0);

const right = (...tokens: readonly (readonly number[])[]) => ({ tokens, side: 'right' as const });

/** Two layers, two choices, rows of one token and of three, two of them in each micro-batch: no two ways give one number. */
const UNLIKE: Routing = {
  experts: 3,
  layers: 2,
  topK: 2,
  rows: [
    right([2, 1, -1, -2, 0, 0.5]),
    right([2, 0, -1, 1.5, -1, 0.5], [1, -0.5, 2, -2, 0.25, 1.75], [0.75, 2, -2, 0, 1, -1]),
    right([-2, 1.5, 0.5, 2, -1.5, 1]),
    right([1.75, 0.5, -2, 0.25, -0.5, 2], [2, 1.25, -1, -2, -1, 0.5]),
  ],
  pad: [0.25, 0.5, 1, 2, -2, 0],
};
/** Other numbers of experts, layers and choices; all tokens to one expert. */
const BY_HAND: readonly Routing[] = [
  { ...UNLIKE, layers: 1, experts: 3, rows: UNLIKE.rows.map(ofFirstLayer(3)), pad: UNLIKE.pad.slice(0, 3) },
  { ...UNLIKE, topK: 1 },
  { ...UNLIKE, layers: 3, experts: 2, topK: 1 },
  { ...UNLIKE, layers: 1, experts: 6, topK: 3 },
  { ...UNLIKE, topK: 1, rows: [right([2, -1, -2, 2, -2, -1]), right([2, 0, -2, 2, -1, 0])] },
];

function ofFirstLayer(experts: number) {
  return ({ tokens, side }: Routing['rows'][number]) => ({
    tokens: tokens.map((logits) => logits.slice(0, experts)),
    side,
  });
}

/** Nobody's coefficient is as small. */
const LEAST = 1e-9;
const SOLVED = 1e-5;

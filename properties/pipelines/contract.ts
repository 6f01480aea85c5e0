// What a hand-over between parts of a pipeline must carry. A batch whose elements are told apart by their number
// can be read as another batch; then a loss is skipped without an error and logged as 0.
import {
  bandOf,
  contrasts,
  discard,
  expectedTraining,
  type Finding,
  type Handover,
  handover,
  handoverLabels,
  many,
  type Need,
  type Ok,
  type Property,
  redrawn,
  type Subject,
  show,
  type World,
} from '../../src/index.ts';

const given = (world: World) =>
  handover(world.hello.ops.contract?.orders ?? [], world.hello.ops.contract?.losses ?? []);

const declared: Need = (world) => {
  const { orders = [], losses = [] } = world.hello.ops.contract ?? {};
  return orders.length > 0 && losses.length > 0 ? undefined : 'op `contract` declares no orders or no losses';
};

const base = {
  stage: 'contract',
  ops: ['contract'],
  needs: [declared],
  given,
  labels: handoverLabels,
} as const;
/** Batches without a signal are where a learner steps aside. */
const coverage = { 'one segment': 0.05, 'equal rewards': 0.05 } as const;

const ask = (
  subject: Pick<Subject, 'ask'>,
  { segments, order, enabled }: Handover,
): Promise<Ok<'contract'>> => subject.ask('contract', { segments, order, enabled });

const handedOver = ({ order, segments }: Handover): string =>
  `the batch (${order.join(', ')}) with ${segments.length} segment${segments.length === 1 ? '' : 's'}`;

function perLoss(
  drawn: Handover,
  answer: Ok<'contract'>,
  wrong: (loss: string, answer: Ok<'contract'>) => string | undefined,
): Finding | undefined {
  for (const loss of drawn.enabled) {
    const sentence = wrong(loss, answer);
    if (sentence !== undefined) return { kind: 'loss', sentence };
  }
  return undefined;
}

/** A hand-over that has nothing in common with this one but the order and the losses. */
const anotherOf = (drawn: Handover): Handover => ({ ...drawn, segments: drawn.others });

/** Another number of runs, or of tokens, in another hand-over of the same segments. */
function otherCounts(
  loss: string,
  [first, what]: readonly [Ok<'contract'>, string],
  [second, other]: readonly [Ok<'contract'>, string],
): string | undefined {
  const [ran, runs] = [first, second].map(({ executed }) => executed[loss]);
  const [trained, trains] = [first, second].map((answer) => answer.trained_tokens[loss]);
  return ran === runs && trained === trains
    ? undefined
    : `Loss "${loss}" ran ${many(ran ?? 0, 'time')} on ${many(trained ?? 0, 'token')} of ${what}, but ${many(runs ?? 0, 'time')} on ${many(trains ?? 0, 'token')} of ${other}, with the same segments.`;
}

/** Tokens that a loss sums over, at most: those of the prompts may be among them. */
const lossTerms = ({ segments }: Handover): number =>
  Math.max(
    64,
    segments.flatMap(({ prompt_ids, completion_ids }) => [...prompt_ids, ...completion_ids]).length,
  );

const rewardsOf = ({ segments }: Handover): string => segments.map(({ reward }) => reward).join(', ');

/** The one way in which this is right. */
const CANCELS =
  'Legal only for a policy loss at ratio 1, averaged by row, whose advantages sum to 0 in every batch: then list it as known.';

const several =
  (what: 'orders' | 'losses'): Need =>
  (world) =>
    (world.hello.ops.contract?.[what]?.length ?? 0) > 1
      ? undefined
      : `op \`contract\` declares one of its ${what} only`;

const disabledIn = (world: World, { enabled }: Handover): readonly string[] =>
  (world.hello.ops.contract?.losses ?? []).filter((loss) => !enabled.includes(loss));

export const contractProperties: readonly Property<Handover>[] = [
  {
    ...base,
    coverage,
    level: 'must',
    id: 'contract/every-enabled-loss-runs',
    title:
      'Every enabled loss runs on every batch that carries its data, in each order of elements that the consumer declares',
    why: 'A three-element batch read as another three-element batch leaves the segments None, and the loss is 0.0 for days.',
    catches: ['ZL-01', 'ZL-02', 'ZL-04', 'ADV-14', 'KL-09'],
    async check(subject, drawn) {
      const answer = await ask(subject, drawn);
      return perLoss(drawn, answer, (loss, { executed, losses }) =>
        (executed[loss] ?? 0) > 0
          ? undefined
          : `Loss "${loss}" is enabled and was handed ${handedOver(drawn)}, but its branch never ran${losses[loss] === undefined ? '' : ` (reported loss ${losses[loss]})`}.`,
      );
    },
  },
  {
    ...base,
    level: 'must',
    id: 'contract/every-enabled-loss-trains-tokens',
    title: 'Every enabled loss trains at least one token of a batch that has some',
    why: 'A loss over no tokens is 0, finite, and trains nothing.',
    catches: ['ZL-01', 'ZL-02', 'ZL-05', 'TRN-04'],
    async check(subject, drawn) {
      const answer = await ask(subject, drawn);
      const tokens = drawn.segments.reduce((sum, { completion_ids: ids }) => sum + ids.length, 0);
      if (tokens === 0) return discard('the segments hold no completion token');
      return perLoss(drawn, answer, (loss, { trained_tokens: trained }) =>
        (trained[loss] ?? 0) > 0
          ? undefined
          : `Loss "${loss}" was handed ${handedOver(drawn)} with ${many(tokens, 'completion token')}, but trained ${trained[loss] ?? 'an unreported number of'} tokens.`,
      );
    },
  },
  {
    ...base,
    level: 'should',
    id: 'contract/trained-tokens-are-the-completion-tokens',
    title: 'Every enabled loss trains each completion token of the batch once',
    why: 'A count of rows, or of prompt tokens, says that training runs on other tokens than the answers.',
    catches: ['ZL-05', 'MSK-10', 'MSK-01', 'ADV-09'],
    async check(subject, drawn) {
      const answer = await ask(subject, drawn);
      const expected = expectedTraining(drawn.segments, drawn.enabled).trainedTokens;
      return perLoss(drawn, answer, (loss, { trained_tokens: trained }) =>
        trained[loss] === expected[loss]
          ? undefined
          : `Loss "${loss}" was handed ${many(expected[loss] ?? 0, 'completion token')}, but reports ${trained[loss] ?? 'no'} trained tokens.`,
      );
    },
  },
  {
    ...base,
    level: 'must',
    id: 'contract/every-enabled-loss-is-reported',
    title: 'Every enabled loss is in `losses`, and finite',
    why: 'A loss that is not logged, or is NaN, cannot be watched. A sum of losses with a NaN in it trains nothing.',
    catches: ['ZL-01', 'NUM-01', 'NUM-02'],
    async check(subject, drawn) {
      const answer = await ask(subject, drawn);
      return perLoss(drawn, answer, (loss, { losses }) =>
        Number.isFinite(losses[loss])
          ? undefined
          : `Loss "${loss}" is enabled and was handed ${handedOver(drawn)}, but ${losses[loss] === undefined ? 'is not among the reported losses' : `is reported as ${losses[loss]}`}.`,
      );
    },
  },
  {
    ...base,
    // A mean over rows at ratio 1 may be exactly 0 by right.
    level: 'may',
    id: 'contract/losses-are-not-always-zero',
    title: 'A loss on tokens with rewards is not exactly 0 for two hand-overs that have nothing in common',
    why: 'A branch that runs, counts its tokens and returns 0.0 each time trains nothing. Rewards that cancel give 0 once, not for any batch.',
    catches: ['ZL-01', 'ZL-02', 'ZL-05'],
    given: (world) =>
      contrasts(world.hello.ops.contract?.orders ?? [], world.hello.ops.contract?.losses ?? []),
    async check(subject, drawn) {
      const [one, other] = [await ask(subject, drawn), await ask(subject, anotherOf(drawn))];
      const finding = perLoss(drawn, one, (loss) =>
        one.losses[loss] === 0 && other.losses[loss] === 0
          ? `Loss "${loss}" is exactly 0 for ${handedOver(drawn)} (rewards ${rewardsOf(drawn)}), and for another with other completions (rewards ${rewardsOf(anotherOf(drawn))}).`
          : undefined,
      );
      return finding && { ...finding, note: CANCELS };
    },
  },
  {
    ...base,
    level: 'must',
    id: 'contract/disabled-losses-do-not-run',
    title: 'A loss that is not enabled does not run and trains no token',
    why: 'A loss that is switched off and trains all the same is in every ablation that was meant to be without it.',
    catches: ['ZL-01', 'TRN-04'],
    needs: [declared, several('losses')],
    given: (world) => redrawn(base.given(world), (drawn) => disabledIn(world, drawn).length > 0),
    async check(subject, drawn) {
      const disabled = disabledIn(subject, drawn);
      if (disabled.length === 0) return discard('every loss is enabled');
      const answer = await ask(subject, drawn);
      return perLoss(
        { ...drawn, enabled: disabled },
        answer,
        (loss, { executed, trained_tokens: trained }) =>
          (executed[loss] ?? 0) === 0 && (trained[loss] ?? 0) === 0
            ? undefined
            : `Loss "${loss}" is not enabled (${drawn.enabled.join(', ')}), but ran ${many(executed[loss] ?? 0, 'time')} and trained ${many(trained[loss] ?? 0, 'token')}.`,
      );
    },
  },
  {
    ...base,
    level: 'must',
    id: 'contract/orders-train-the-same',
    title:
      'The same segments train the same tokens as often in each order of elements that the consumer declares',
    why: 'An order that is read with another in mind takes one element for another: some of the batch, or all of it, is lost.',
    catches: ['ZL-01', 'ZL-02', 'ADV-14'],
    needs: [declared, several('orders')],
    async check(subject, drawn) {
      // A step that moves the model, or draws at random, has another loss each time.
      const [first, again] = [await ask(subject, drawn), await ask(subject.anew, drawn)];
      const band = bandOf(subject, lossTerms(drawn));
      for (const order of subject.hello.ops.contract?.orders ?? []) {
        const turned = { ...drawn, order };
        const answer = await ask(subject, turned);
        const [what, other] = [handedOver(drawn), handedOver(turned)];
        const finding = perLoss(drawn, answer, (loss, { losses }) => {
          const counts = otherCounts(loss, [first, what], [answer, other]);
          const before = first.losses[loss];
          if (counts !== undefined || !Number.isFinite(before) || before !== again.losses[loss])
            return counts;
          return band.close(losses[loss], before ?? Number.NaN)
            ? undefined
            : `Loss "${loss}" is ${show(before)}, each time it is asked, of ${what}, but ${show(losses[loss])} of ${other}, with the same segments.`;
        });
        if (finding !== undefined) return finding;
      }
      return undefined;
    },
  },
  {
    ...base,
    level: 'must',
    id: 'contract/losses-are-told-by-name',
    title:
      'In every order of enabled losses, each is reported under its own name: as often, on as many tokens, and never as another one',
    why: 'If losses are identified by their place in a list, each is reported, or weighed, as another one.',
    catches: ['ZL-01', 'ZL-04'],
    needs: [declared, several('losses')],
    given: (world) => redrawn(base.given(world), ({ enabled }) => enabled.length > 1),
    async check(subject, drawn) {
      if (drawn.enabled.length < 2) return discard('one loss is enabled only');
      const band = bandOf(subject, lossTerms(drawn));
      const alone = new Map<string, number | undefined>();
      for (const loss of drawn.enabled)
        alone.set(loss, (await ask(subject, { ...drawn, enabled: [loss] })).losses[loss]);
      const alike = (one: number | undefined, other: number | undefined): boolean =>
        band.close(one, other ?? Number.NaN);
      const lists = [drawn.enabled, drawn.enabled.toReversed()];
      let first: readonly [Ok<'contract'>, string] | undefined;
      for (const enabled of lists) {
        const answer = await ask(subject, { ...drawn, enabled });
        const what = `${handedOver(drawn)} with the losses enabled as ${enabled.join(', ')}`;
        first ??= [answer, what];
        const before = first;
        const finding = perLoss(drawn, answer, (loss, { losses }) => {
          const counts = otherCounts(loss, before, [answer, what]);
          const [own, told] = [alone.get(loss), losses[loss]];
          // Losses in turn change each other, and none becomes another.
          const another = enabled.find(
            (other) => !alike(own, alone.get(other)) && !alike(told, own) && alike(told, alone.get(other)),
          );
          return another === undefined || counts !== undefined
            ? counts
            : `Loss "${loss}" is told as ${show(told)} of ${what}: that is what "${another}" is by itself, and "${loss}" by itself is ${show(own)}.`;
        });
        if (finding !== undefined) return finding;
      }
      return undefined;
    },
  },
  {
    ...base,
    level: 'must',
    id: 'contract/more-segments-train-no-fewer-tokens',
    title: 'One segment more never lowers the number of trained tokens',
    why: 'A batch that is passed over, or read in part, because of what else is in it, trains less the more there is to train on.',
    catches: ['ZL-05', 'ZL-01', 'TRN-04'],
    async check(subject, drawn) {
      const before = await ask(subject, drawn);
      const more = { ...drawn, segments: [...drawn.segments, ...drawn.others.slice(0, 1)] };
      const after = await ask(subject, more);
      return perLoss(drawn, after, (loss, { trained_tokens: trained }) =>
        (trained[loss] ?? 0) >= (before.trained_tokens[loss] ?? 0)
          ? undefined
          : `Loss "${loss}" trained ${before.trained_tokens[loss]} tokens of ${handedOver(drawn)}, but ${trained[loss] ?? 0} with one segment more.`,
      );
    },
  },
];

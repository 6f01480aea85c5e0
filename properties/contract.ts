// What a hand-over between parts of a pipeline must carry. A batch whose elements are told apart by their number
// can be read as another batch; then a loss is skipped without an error and logged as 0.
import {
  discard,
  expectedTraining,
  type Finding,
  type Handover,
  handover,
  handoverLabels,
  type Ok,
  type Property,
  type Subject,
  type World,
} from '../src/index.ts';

const given = (world: World) =>
  handover(world.hello.ops.contract?.orders ?? [], world.hello.ops.contract?.losses ?? []);

const declared = (world: World): string | undefined => {
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

const ask = (subject: Subject, drawn: Handover): Promise<Ok<'contract'>> => subject.ask('contract', drawn);

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

export const contractProperties: readonly Property<Handover>[] = [
  {
    ...base,
    level: 'must',
    id: 'contract/every-enabled-loss-runs',
    title:
      'Every enabled loss runs on every batch that carries its data, in each order of elements that the consumer declares',
    why: 'A three-element batch read as another three-element batch leaves the segments None, and the loss is 0.0 for days.',
    catches: ['ZL-01', 'ZL-02', 'ADV-14', 'KL-09'],
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
          : `Loss "${loss}" was handed ${handedOver(drawn)} with ${tokens} completion tokens, but trained ${trained[loss] ?? 'an unreported number of'} tokens.`,
      );
    },
  },
  {
    ...base,
    level: 'should',
    id: 'contract/trained-tokens-are-the-completion-tokens',
    title: 'Every enabled loss trains each completion token of the batch once',
    why: 'A count of rows, or of prompt tokens, says that training runs on other tokens than the answers.',
    catches: ['ZL-05', 'MSK-10', 'MSK-01'],
    async check(subject, drawn) {
      const answer = await ask(subject, drawn);
      const expected = expectedTraining(drawn.segments, drawn.enabled).trainedTokens;
      return perLoss(drawn, answer, (loss, { trained_tokens: trained }) =>
        trained[loss] === expected[loss]
          ? undefined
          : `Loss "${loss}" was handed ${expected[loss]} completion tokens, but reports ${trained[loss] ?? 'no'} trained tokens.`,
      );
    },
  },
];

// What the loss that balances experts does whatever its formula: padding is no load, and a crowded expert costs more than an even load.
import {
  type Args,
  bandOf,
  type Finding,
  formulaOf,
  type Observed,
  type Property,
  type Routing,
  relations,
  routing,
  routingLabels,
  type Subject,
  show,
} from '../../../src/index.ts';
import { argsOf, base, coverage, ofWholeBatch, termsOf } from './cases.ts';

/** A token for each expert, all of which go to the same `topK`, or to each expert equally often. */
function loads({ experts, layers, topK }: Routing, crowded: boolean): Routing {
  const layer = (token: number): number[] =>
    Array.from({ length: experts }, (_, expert) => {
      const place = (expert - (crowded ? 0 : token) + experts) % experts;
      return (topK > place ? HIGH : -HIGH) - place / FINE;
    });
  const tokens = Array.from({ length: experts }, (_, token) =>
    Array.from({ length: layers }, () => layer(token)).flat(),
  );
  return { experts, layers, topK, rows: [{ tokens, side: 'right' }], pad: [] };
}
const HIGH = 2;
/** Which expert is the first choice, the second and so on is the same for all precisions. */
const FINE = 4;
/** The crowded loss is a seventh larger at the least, which rounding in bfloat16 does not hide. */
const DISTINCT = 0.01;

const crowded: Property<Routing> = {
  ...base,
  id: 'balance_loss/a-crowded-expert-costs-more',
  title: 'Tokens that all go to the same experts cost more than tokens that go to each expert equally often',
  why: 'With a sign or a share gone wrong the loss falls as the router sends every token to one expert, and all others are never trained.',
  catches: ['MOE-02', 'MOE-03'],
  needs: [formulaOf(['balance_loss'])],
  given: () => routing(),
  coverage: { 'several layers': 0.3, 'several choices': 0.3 },
  async check(subject, drawn): Promise<Finding | undefined> {
    const { loss: best } = await subject.ask('balance_loss', argsOf(loads(drawn, false), subject));
    const { loss: worst } = await subject.ask('balance_loss', argsOf(loads(drawn, true), subject));
    if (worst - best > DISTINCT * Math.abs(best)) return undefined;
    return {
      kind: worst < best ? 'slope' : 'flat',
      sentence: `With ${drawn.experts} tokens that all go to the same ${drawn.topK} of ${drawn.experts} experts the balance loss is ${show(worst)}, and with an even load ${show(best)}.`,
    };
  },
};

/** A slope is a difference of loads: it is as exact as the largest of them. */
async function observe(subject: Subject, args: Args<'balance_loss'>): Promise<Observed> {
  const fields = await subject.ask('balance_loss', args);
  const largest = Math.max(0, ...(fields.router_weights ?? []).flat(2).map(Math.abs));
  return { fields, slack: { router_weights: bandOf(subject, termsOf(args)).allowed(largest) } };
}

export const balanceLossRelations: readonly Property<Routing>[] = [
  crowded,
  ...relations<'balance_loss', Routing>({
    op: 'balance_loss',
    stage: 'balance_loss',
    noun: 'The balance loss',
    given: () => routing({ minRows: 2 }),
    args: argsOf,
    observe,
    labels: routingLabels,
    coverage,
    allBut: [],
    relations: {
      padding: { catches: ['MOE-01'] },
      'masked-values': { catches: ['MOE-01'] },
      'micro-batches': { catches: ['MOE-05'], needs: [ofWholeBatch] },
      'many-micro-batches': { catches: ['MOE-05'], needs: [ofWholeBatch] },
      counts: { catches: ['MOE-02', 'MOE-04'] },
    },
  }),
];

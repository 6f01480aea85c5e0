// The critic's loss under changes that must not matter: padding, row order, micro-batches, ranks, masked values; and what it counts.
import {
  type Args,
  discard,
  gapsBehind,
  many,
  type Property,
  relations,
  underGaps,
  type ValueCase,
  valueCase,
  valueLabels,
  type World,
} from '../../../src/index.ts';
import { base, valueArgs } from './cases.ts';

/** With the partition over ranks, where the trainer takes one. */
function args(drawn: ValueCase, world: World): Args<'value_loss'> {
  const split = valueArgs(drawn, false);
  return { ...split, ...(world.hello.ops.value_loss?.ranks ? { ranks: split.micro_batches } : {}) };
}

const related = {
  op: 'value_loss',
  stage: 'value_loss',
  prefix: 'value-loss/',
  noun: "The critic's loss with its gradient",
  args,
  labels: valueLabels,
} as const;

const counted: Property<ValueCase> = {
  ...base,
  id: 'value-loss/trained-tokens-are-counted',
  title: 'trained_tokens, where answered, is the number of tokens under the mask',
  why: 'It is what the sum over micro-batches is divided by: counted with padding, the critic learns too slowly.',
  catches: ['MSK-10', 'LOSS-03'],
  given: () => valueCase({ gaps: true }),
  async check(subject, drawn) {
    const args = valueArgs(drawn);
    const { trained_tokens: observed } = await subject.ask('value_loss', args);
    if (observed === undefined) return discard('the answer has no trained_tokens', 'trainer');
    const expected = args.completion_mask.flat().filter((value) => value === 1).length;
    if (observed === expected) return undefined;
    return {
      kind: 'count',
      sentence: `The mask trains ${many(expected, 'token')}, but trained_tokens is ${observed}.`,
    };
  },
};

export const valueLossRelations: readonly Property<ValueCase>[] = underGaps(gapsBehind, [
  ...relations<'value_loss', ValueCase>({
    ...related,
    given: () => valueCase({ gaps: true }),
    coverage: { 'several rows': 0.3, gap: 0.15 },
    allBut: ['micro-batches', 'many-micro-batches', 'ranks'],
    relations: {
      finite: {
        catches: ['NUM-01'],
        why: 'A mean over an empty row is 0/0: one answer that was masked out whole turns the weights of the critic to NaN.',
      },
      padding: { catches: ['LOSS-11', 'MSK-06'] },
      'masked-values': { catches: ['MSK-02', 'MSK-06', 'VAL-11'] },
      untrained: { catches: ['NUM-01', 'ZL-04'] },
      stacked: { catches: ['LOSS-03', 'LOSS-11'] },
      long: { catches: ['LOSS-03', 'LOSS-11'] },
      inputs: { catches: ['VAL-10'] },
    },
  }),
  ...relations<'value_loss', ValueCase>({
    ...related,
    given: () => valueCase({ minRows: 2 }),
    coverage: { 'unequal completions': 0.3, 'several micro-batches': 0.4 },
    relations: {
      'micro-batches': { catches: ['LOSS-01', 'LOSS-12'] },
      'many-micro-batches': { catches: ['LOSS-03', 'LOSS-12'] },
      ranks: { catches: ['LOSS-02', 'LOSS-08'] },
    },
  }),
  counted,
]);

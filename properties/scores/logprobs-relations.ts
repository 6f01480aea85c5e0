// Log-probabilities under changes that must not matter: padding, the order of the rows, batches and rows larger than a chunk.
import {
  type Args,
  type LogitBatch,
  logitBatch,
  logitLabels,
  type Matrix,
  type Observed,
  type Property,
  relations,
  type Subject,
} from '../../src/index.ts';
import { logitArgs } from './logprobs.ts';

/** Of prompts and padding a trainer may say what it likes. */
async function observe(subject: Subject, args: Args<'logprobs'>): Promise<Observed> {
  const { logprobs } = await subject.ask('logprobs', args);
  return { fields: { logprobs: ofCompletions(args, logprobs) } };
}

const ofCompletions = (args: Args<'logprobs'>, logprobs: Matrix): Matrix =>
  logprobs.map((row, at) =>
    row.map((value, column) =>
      column >= args.prompt_width && args.attention_mask[at]?.[column] === 1 ? value : 0,
    ),
  );

export const logprobsRelations: readonly Property<LogitBatch>[] = relations<'logprobs', LogitBatch>({
  op: 'logprobs',
  stage: 'logprobs',
  noun: 'The log-probability of a token',
  given: (world) =>
    logitBatch({
      minRows: 2,
      temperatures:
        world.hello.ops.logprobs?.temperature === true && world.semantics.temperature_in_scoring !== false,
    }),
  args: (drawn) => logitArgs(drawn).args,
  labels: logitLabels,
  coverage: { 'unequal rows': 0.3 },
  observe,
  allBut: [],
  relations: {
    padding: { catches: ['PAD-09'] },
    'same-twice': { catches: ['LP-14'] },
    stacked: { catches: ['LP-09'] },
    long: { catches: ['LP-09'] },
    inputs: { catches: ['LP-14'] },
  },
});

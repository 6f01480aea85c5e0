// Sequence parallelism: the columns of a row split over machines. A way to compute, which changes no number.
import {
  type Args,
  agreement,
  bandOf,
  discard,
  type Finding,
  IGNORE_INDEX,
  type LogitBatch,
  logitBatch,
  logitLabels,
  type Property,
  type Subject,
  show,
  type World,
} from '../../src/index.ts';
import { logitArgs } from './logprobs.ts';

/** Two, and as many as rows here seldom divide into. */
const SHARDS = [2, 4] as const;

const offers =
  (op: 'logprobs' | 'sft_loss') =>
  (world: World): string | undefined =>
    world.hello.ops[op]?.shards === true ? undefined : `op \`${op}\` does not offer shards`;

/** A shard ends between two tokens that are both trained. */
function endsInside(drawn: LogitBatch, shards: number): boolean {
  const { args, roles } = logitArgs(drawn);
  const width = args.input_ids[0]?.length ?? 0;
  return Array.from({ length: shards - 1 }, (_, n) => Math.floor((width * (n + 1)) / shards)).some((edge) =>
    roles.some((row) => row[edge - 1] === 'completion' && row[edge] === 'completion'),
  );
}

function labels(drawn: LogitBatch): string[] {
  const width = logitArgs(drawn).args.input_ids[0]?.length ?? 0;
  return [
    ...logitLabels(drawn),
    ...(SHARDS.some((shards) => endsInside(drawn, shards)) ? ['a shard ends inside a completion'] : []),
    ...(SHARDS.some((shards) => width % shards > 0) ? ['a width that is not divisible'] : []),
  ];
}

const base = {
  level: 'must',
  labels,
  coverage: { 'unequal rows': 0.2, 'a shard ends inside a completion': 0.25 },
} as const;

/** Each number of shards that the width divides into must be answered; another may be refused. */
async function eachCount<T>(
  width: number,
  ask: (shards: number) => Promise<{ readonly ok: T } | { readonly refused: string }>,
  must: (shards: number) => Promise<T>,
  compare: (answer: T, shards: number) => Finding | undefined,
): Promise<Finding | undefined> {
  let judged = 0;
  for (const shards of SHARDS) {
    const outcome = width % shards === 0 ? { ok: await must(shards) } : await ask(shards);
    if ('refused' in outcome) continue;
    judged++;
    const found = compare(outcome.ok, shards);
    if (found !== undefined) return found;
  }
  return judged === 0 ? discard('the trainer refuses widths that are not divisible', 'trainer') : undefined;
}

function sftArgs(drawn: LogitBatch): Args<'sft_loss'> {
  const { args, roles } = logitArgs(drawn);
  const starts = roles.map((row) => row.findIndex((role) => role !== 'padding'));
  return {
    input_ids: args.input_ids,
    attention_mask: args.attention_mask,
    logits: args.logits,
    labels: args.input_ids.map((ids, row) =>
      ids.map((id, column) =>
        roles[row]?.[column] === 'completion' &&
        drawn.rows[row]?.tokens[column - (starts[row] ?? 0)]?.ignored !== true
          ? id
          : IGNORE_INDEX,
      ),
    ),
    // As many as there are: a count of shards that is also taken once a micro-batch shows.
    micro_batches: [...new Set(drawn.rows.map(({ part }) => part))].map((part) =>
      drawn.rows.flatMap((row, at) => (row.part === part ? [at] : [])),
    ),
  };
}

export const shardedLogprobs: Property<LogitBatch> = {
  ...base,
  id: 'logprobs/independent-of-shards',
  title: 'Log-probabilities are the same in every number of sequence-parallel shards',
  stage: 'logprobs',
  why: 'A shift inside each shard loses the token after its end, so one ratio per shard is computed from nothing.',
  catches: ['LP-03'],
  ops: ['logprobs'],
  needs: [offers('logprobs')],
  given: () => logitBatch({ temperatures: false }),
  async check(subject, drawn) {
    const { args, roles } = logitArgs(drawn);
    const { logprobs: whole } = await subject.ask('logprobs', args);
    const band = bandOf(subject, drawn.vocabulary);
    return eachCount(
      args.input_ids[0]?.length ?? 0,
      (shards) => subject.attempt('logprobs', { ...args, shards }),
      (shards) => subject.ask('logprobs', { ...args, shards }),
      ({ logprobs }, shards) => {
        for (const [row, values] of whole.entries()) {
          const column = values.findIndex(
            (value, at) => roles[row]?.[at] === 'completion' && !band.close(logprobs[row]?.[at], value),
          );
          if (column >= 0)
            return {
              kind: 'logprobs',
              sentence: `The log-probability of token ${column} of row ${row} is ${show(values[column])}, but ${show(logprobs[row]?.[column])} in ${shards} shards of the row's ${values.length} columns.`,
              note: band.reason,
            };
        }
        return undefined;
      },
    );
  },
};

export const shardedSftLoss: Property<LogitBatch> = {
  ...base,
  id: 'sft-loss/independent-of-shards',
  title: 'The SFT loss is the same in every number of sequence-parallel shards',
  stage: 'sft_loss',
  why: 'A mean of the means of shards weighs labels by where they stand in the row; a factor of their number changes the learning rate.',
  catches: ['LP-03', 'LOSS-10'],
  ops: ['sft_loss'],
  needs: [offers('sft_loss')],
  given: () => logitBatch({ temperatures: false, holes: true }),
  async check(subject: Subject, drawn) {
    const args = sftArgs(drawn);
    const before = { fields: await subject.ask('sft_loss', args) };
    return eachCount(
      args.input_ids[0]?.length ?? 0,
      (shards) => subject.attempt('sft_loss', { ...args, shards }),
      (shards) => subject.ask('sft_loss', { ...args, shards }),
      (answer, shards) =>
        agreement({
          world: subject,
          op: 'sft_loss',
          args,
          before,
          after: { fields: answer },
          when: `in ${shards} shards of the row's columns`,
        }),
    );
  },
};

// A token's weight must not depend on which micro-batch, or which process, its row was in: the mean of micro-batch means,
// which gradient accumulation and data parallelism make where each divides by its own tokens.
import {
  commonOf,
  type Ledger,
  type LedgerJudgement,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
  type Rough,
  scaled,
  show,
} from '../../../src/index.ts';
import { factsOf } from '../facts.ts';
import { type Aside, aside, type Found, judgementFrom, rowStrip } from '../words.ts';
import { policyAggregation, ranksOnTheirOwn, supervisedAggregation } from './declared.ts';
import { dividedNotice, localMeans, localNotice } from './denominator.ts';
import { precisionOf } from './precision.ts';
import { averagesRows, averagesTokens, type Supervised, supervisedOf, taughtBatches } from './supervised.ts';

/** What shares a denominator, or should not: a micro-batch, or all of a rank's. */
interface Part {
  readonly name: string;
  readonly batches: readonly Supervised[];
  readonly weight: Rough;
  readonly tokens: number;
  readonly columns: number;
}

interface Partition {
  readonly noun: 'micro-batch' | 'rank';
  readonly parts: readonly Part[];
}

/** What somebody said about parts that have denominators of their own, so that they are not blamed. */
function declaredFor({ settings }: Ledger, partition: Partition): boolean {
  const { semantics } = settings;
  if (partition.noun === 'rank' ? ranksOnTheirOwn(settings) : semantics.loss_normalization === 'local')
    return true;
  return oneRowEach(partition) && supervisedAggregation(settings)?.aggregation === 'seq-mean-token-mean';
}

const oneRowEach = ({ parts }: Partition): boolean =>
  parts.every(({ batches }) => batches.every(({ rows }) => rows.length === 1));

/** Each is the only row of its micro-batch, and all have one sum of weights, as in a mean over rows. */
const areRowMeans = (partition: Partition): boolean =>
  oneRowEach(partition) &&
  commonOf(
    partition.parts.flatMap(({ batches }) =>
      batches.flatMap(({ weights, count }) => weights.map((weight) => scaled(weight, count))),
    ),
  ) !== undefined;

type Said = 'good' | Aside | LedgerNotice | Found;

const isNotice = (said: Said): said is LedgerNotice => typeof said === 'object' && 'answers' in said;

function sayOf(ledger: Ledger, partition: Partition, shown: Shown): Said {
  const { parts } = partition;
  if (commonOf(parts.map(({ weight }) => weight)) !== undefined) return 'good';
  if (declaredFor(ledger, partition)) return 'good';
  // The same script takes the mean over each row elsewhere, where it shows: these rows are alone in their batches.
  if (shown.rowMeans && oneRowEach(partition)) return 'good';
  if (commonOf(parts.map(({ weight, tokens }) => scaled(weight, tokens))) !== undefined) {
    // A mean over rows is a convention, and with one row in each it looks the same: nobody says which of the two is meant.
    const open = areRowMeans(partition) && supervisedAggregation(ledger.settings) === undefined;
    return open && !shown.tokenMeans ? alone(partition) : divided(ledger, partition, 'tokens');
  }
  if (commonOf(parts.map(({ weight, columns }) => scaled(weight, columns))) !== undefined)
    return divided(ledger, partition, 'columns');
  // Weights that counts do not explain: batches may be weighted on purpose.
  return aside('the weights differ, and no count of tokens or columns explains that');
}

/** What batches of several rows show of how the script takes its means. */
interface Shown {
  readonly rowMeans: boolean;
  readonly tokenMeans: boolean;
}

function alone({ noun, parts }: Partition): LedgerNotice {
  const sorted = parts.toSorted((a, b) => b.weight.value - a.weight.value);
  const [heavy, light] = [sorted[0], sorted.at(-1)];
  const of = noun === 'rank' ? 'process' : 'micro-batch';
  const step = parts[0]?.batches[0]?.step;
  return {
    sentence: `In step ${step}, a trained token weighs ${show(heavy?.weight.value)} in ${heavy?.name} (${many(heavy?.tokens ?? 0, 'token')}) and ${show(light?.weight.value)} in ${light?.name} (${many(light?.tokens ?? 0, 'token')}). With one row in each ${of} this is a mean over rows, which is legal, or the mean of token means, which is not: the same script with several rows in each would tell.`,
    answers: ['"sft_aggregation": "seq-mean-token-mean"', '"sft_aggregation": "token-mean"'],
  };
}

function divided(ledger: Ledger, partition: Partition, by: 'tokens' | 'columns'): Found {
  const { noun, parts } = partition;
  const sorted = parts.toSorted((a, b) => b.weight.value - a.weight.value);
  const [heavy, light] = [sorted[0], sorted.at(-1)];
  const total = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const sum = parts.reduce((all, { weight, tokens }) => all + weight.value * tokens, 0);
  const even = sum / total;
  const [batch] = parts.flatMap(({ batches }) => batches);
  const of = noun === 'rank' ? 'process' : 'micro-batch';
  const denominator =
    by === 'tokens' ? `each ${of} divides by its own tokens` : `each ${of} divides by its padded columns`;
  const counts = (part: Part | undefined): string =>
    part === undefined
      ? ''
      : `${show(part.weight.value)} in ${part.name} (${many(part.tokens, 'token')}${by === 'columns' ? `, ${many(part.columns, 'column')}` : ''})`;
  return {
    harm: heavy === undefined || light === undefined ? 0 : heavy.weight.value / light.weight.value,
    tell: () => ({
      kind: by,
      sentence: `In step ${batch?.step}, a trained token weighs ${counts(heavy)} and ${counts(light)}: ${denominator}, and the step is the mean of means.`,
      numbers: sorted.map(({ name, weight, tokens }) => ({
        where: `weight of each of the ${many(tokens, 'token')} of ${name}`,
        expected: even,
        observed: weight.value,
        allowed: weight.relative * even,
      })),
      strips: [heavy, light].flatMap((part) => stripsOf(ledger, part)),
      note: [
        precisionOf(batch?.rows[0]?.dtype ?? 'float32'),
        `Expected is one weight for every token of the step, with the same sum.`,
        howToSay(ledger, partition, by),
      ].join(' '),
      given: {
        step: batch?.step,
        parts: parts.map(({ name, weight, tokens, columns }) => ({
          part: name,
          tokens,
          columns,
          weight: weight.value,
        })),
      },
    }),
  };
}

function stripsOf(ledger: Ledger, part: Part | undefined): ReturnType<typeof rowStrip>[] {
  const row = part?.batches.flatMap(({ rows }) => rows).find(({ trained }) => trained.some(Boolean));
  if (row === undefined) return [];
  const marks = row.trained.flatMap((each, column) => (each === undefined ? [] : [column]));
  return [rowStrip(ledger, row, marks)];
}

/** What whoever means it writes, so that it is not blamed again; and who says what is expected. */
function howToSay({ settings }: Ledger, partition: Partition, by: 'tokens' | 'columns'): string {
  const declared = supervisedAggregation(settings);
  const from = declared === undefined ? '' : `${declared.from} declares a ${declared.aggregation}. `;
  const rows =
    by === 'tokens' && oneRowEach(partition)
      ? `With one row in each, this is a mean over rows as well: if that is meant, say so with --semantics '{"sft_aggregation":"seq-mean-token-mean"}'. `
      : '';
  return `${from}${rows}Where denominators of their own are meant, --semantics '{"loss_normalization":"local"}' says so.`;
}

/** Judges one partition per step and rank, or one per step. */
function judge(
  ledger: Ledger,
  partitionsOf: (batches: readonly Supervised[]) => readonly Partition[],
): LedgerJudgement {
  const shown = { rowMeans: averagesRows(ledger.rows), tokenMeans: averagesTokens(ledger.rows) };
  const all: Exclude<Said, LedgerNotice>[] = [];
  const notices: LedgerNotice[] = [];
  for (const rows of bySteps(ledger)) {
    if (!isMade(ledger, rows)) {
      all.push(aside('the optimiser step was not finished'));
      continue;
    }
    const taught = taughtBatches(rows);
    const even = taught.map(supervisedOf);
    if (even.includes(undefined)) {
      all.push(aside('the tokens of a micro-batch do not have one weight, of 0 or more'));
      continue;
    }
    for (const partition of partitionsOf(even.filter((batch) => batch !== undefined))) {
      if (partition.parts.length < 2) continue;
      const said = sayOf(ledger, partition, shown);
      if (isNotice(said)) notices.push(said);
      all.push(isNotice(said) ? aside('a mean over rows looks the same, with one row in each') : said);
    }
  }
  // One step tells as much as all.
  return {
    ...judgementFrom(all),
    ...(notices.length > 0 ? { notices: notices.slice(0, 1) } : {}),
  };
}

const bySteps = ({ rows }: Ledger): (readonly Ledger['rows'][number][])[] =>
  [...new Set(rows.map(({ step }) => step))].map((step) => rows.filter((row) => row.step === step));

/** Parameters may be changed by other means than an optimiser that is seen: then nobody knows which rows share a step. */
const isMade = ({ steps }: Ledger, [row]: readonly Ledger['rows'][number][]): boolean =>
  steps.some(({ index, ranks }) => index === row?.step && ranks.every(({ done }) => done !== undefined));

const partOf = (name: string, batches: readonly Supervised[]): Part[] => {
  const value = commonOf(batches.flatMap(({ weights }) => weights));
  // Within a process the micro-batches differ already: that is another rule's business.
  if (value === undefined) return [];
  return [
    {
      name,
      batches,
      weight: {
        value,
        relative: Math.min(...batches.flatMap(({ weights }) => weights.map((w) => w.relative))),
      },
      tokens: batches.reduce((sum, { count }) => sum + count, 0),
      columns: batches.reduce((sum, { columns }) => sum + columns, 0),
    },
  ];
};

const byRank = (batches: readonly Supervised[]): (readonly Supervised[])[] =>
  [...new Set(batches.map(({ rank, model }) => `${rank} ${model}`))].map((key) =>
    batches.filter(({ rank, model }) => `${rank} ${model}` === key),
  );

const isUndeclared = ({ settings }: Ledger): boolean =>
  policyAggregation(settings) === undefined && settings.semantics.loss_normalization === undefined;

const microBatches: LedgerProperty = {
  ...factsOf('loss/independent-of-micro-batches'),
  title:
    'In one optimiser step, the weight of a token does not depend on the micro-batch that its row was in',
  needs: (ledger) =>
    bySteps(ledger).some(
      (rows) =>
        new Set(rows.map(({ rank, forward }) => `${rank} ${forward}`)).size >
        new Set(rows.map(({ rank }) => rank)).size,
    )
      ? undefined
      : 'no optimiser step has several micro-batches: gradients are not accumulated',
  judge: (ledger) => {
    const judgement = judge(ledger, (batches) =>
      byRank(batches).map((own) => ({
        noun: 'micro-batch',
        parts: own.flatMap((batch, at) =>
          partOf(`micro-batch ${at}${batch.rank === 0 ? '' : ` of rank ${batch.rank}`}`, [batch]),
        ),
      })),
    );
    // What is declared is held to by the rule about aggregations.
    const local = isUndeclared(ledger) ? localMeans(ledger) : undefined;
    const notice = local === undefined ? dividedNotice(ledger) : localNotice(ledger, local);
    return notice === undefined ? judgement : { ...judgement, notices: [notice] };
  },
};

/** Its gradients met those of other processes: by what the optimisers found, else by what torch's wrappers say. */
function isShared({ replicas = [] }: Ledger, { step, rank, model, averagedOver }: LedgerRow): boolean {
  const set = replicas.find((each) => each.model === model && each.ranks.includes(rank));
  const gradients = set?.steps.find((each) => each.step === step)?.gradients;
  if (gradients === undefined || gradients.tensors === 0) return averagedOver !== 1;
  return gradients.same > 0 && gradients.differ.length === 0;
}

const ranks: LedgerProperty = {
  ...factsOf('loss/independent-of-ranks'),
  title: 'In one optimiser step, the weight of a token does not depend on the process that its row was in',
  needs: (ledger) => {
    const { rows } = ledger;
    if (new Set(rows.map(({ rank }) => rank)).size < 2)
      return 'one process trained: there are no ranks to compare';
    return rows.some((row) => isShared(ledger, row))
      ? undefined
      : 'no gradients were seen to be shared by the processes: they train apart, or meet in a way that cannot be seen';
  },
  judge: (ledger) =>
    judge({ ...ledger, rows: ledger.rows.filter((row) => isShared(ledger, row)) }, (batches) => {
      const parts = byRank(batches).map((own) => partOf(`rank ${own[0]?.rank}`, own));
      // One rank in parts: its micro-batches differ, and so would the ranks.
      return parts.some((part) => part.length === 0) ? [] : [{ noun: 'rank', parts: parts.flat() }];
    }),
};

export const partitionProperties: readonly LedgerProperty[] = [microBatches, ranks];

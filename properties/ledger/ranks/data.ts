// Each process must have another part of the data; what else must be alike in all of them.
import {
  type Ledger,
  type LedgerFinding,
  type LedgerJudgement,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
  type ReplicaSet,
  realIds,
  show,
  targetsOf,
} from '../../../src/index.ts';
import { keyOf } from '../input/kin.ts';
import { asides, type Found, judgementOf, rowStrip } from '../words.ts';
import { meantAsOne, ownParts, ranksOf } from './told.ts';

// --- another part of the data ---

const parts: LedgerProperty = {
  id: 'ranks/each-has-other-rows',
  title: 'Processes that share their gradients train on different rows',
  stage: 'trace',
  level: 'must',
  why: 'Where all ranks get the same rows, several processes learn what one would: the batch is a fraction of what was asked for, and an epoch takes as many times the steps.',
  catches: ['RNK-04'],
  needs: (ledger) =>
    sharing(ledger).length > 0
      ? undefined
      : 'no processes were seen that share their gradients, each with a whole model: there is no data to be divided',
  judge: (ledger) => {
    const judgements = sharing(ledger).map((ranks) => rowsOfRanks(ledger, ranks));
    const notices = judgements.flatMap((each) => each.notices ?? []);
    return {
      judged: judgements.reduce((sum, { judged }) => sum + judged, 0),
      setAside: judgements.flatMap(({ setAside }) => setAside),
      findings: judgements.flatMap(({ findings }) => findings),
      more: 0,
      ...(notices.length === 0 ? {} : { notices }),
    };
  },
};

/** Groups of ranks that train one model on data of their own each. */
function sharing({ replicas = [] }: Ledger): readonly ReplicaSet[] {
  return replicas.filter((set) => set.divided && meantAsOne(set) && ownParts(set).size === 0);
}

function rowsOfRanks(ledger: Ledger, set: ReplicaSet): LedgerJudgement {
  const rows = ledger.rows.filter(({ rank, model }) => model === set.model && set.ranks.includes(rank));
  const steps = [...new Set(rows.map(({ step }) => step))]
    .map((step) => set.ranks.map((rank) => rows.filter((row) => row.step === step && row.rank === rank)))
    // What some rank never came to is compared with nothing.
    .filter((ranks) => ranks.every((own) => own.length > 0));
  const keys = steps.map((ranks) => ranks.map(keysOf));
  const judged = steps.length;
  const [first] = keys;
  if (first === undefined) return judgementOf(0, [], []);
  if (!keys.every((ranks) => ranks.every((key) => key === ranks[0]))) return judgementOf(judged, [], []);
  // Greedy samples of one prompt are one row on every rank; a step of nothing but those tells nothing.
  if (rows.every((row) => greedy(ledger, row)))
    return judgementOf(0, asides(judged, 'all rows are greedy samples, which are alike on every rank'), []);
  const same = keys.every((ranks) => ranks[0] === first[0]);
  if (keys.length < 2 || same)
    return {
      ...judgementOf(0, asides(judged, 'one batch may be overfitted on purpose'), []),
      notices: [
        {
          sentence: `All of ${ranksOf(set.ranks)} train the same ${many(steps[0]?.[0]?.length ?? 0, 'row')}${keys.length < 2 ? ' in the one step that was seen' : ', in every step'}. Fine where one batch is overfitted on purpose; else the data are not divided among the processes.`,
          answers: [],
        },
      ],
    };
  return judgementOf(judged, [], [sameRows(ledger, set, steps)]);
}

function sameRows(
  ledger: Ledger,
  set: ReplicaSet,
  steps: readonly (readonly (readonly LedgerRow[])[])[],
): Found {
  const rows = steps.flatMap((ranks) => ranks[0] ?? []);
  const [row] = rows;
  return {
    harm: rows.length,
    tell: (): LedgerFinding => ({
      kind: 'same rows',
      sentence: `Every row of ${many(steps.length, 'step')} came to each of ${ranksOf(set.ranks)}: ${many(rows.length, 'row')} instead of ${rows.length * set.ranks.length}.`,
      ...(row === undefined
        ? {}
        : {
            strips: [
              rowStrip(
                ledger,
                row,
                targetsOf(row).map(({ column }) => column),
              ),
            ],
          }),
      note: 'Give the loader torch.utils.data.DistributedSampler (and call its set_epoch), or take every world-size-th row from the rank on; where rows are sampled, seed each rank by its number.',
      given: {
        ranks: set.ranks,
        steps: steps.length,
        rows: rows
          .slice(0, MOST_GIVEN)
          .map((each) => ({ step: each.step, row: each.row, input_ids: each.ids })),
      },
    }),
  };
}

/** Shown in a finding; the trace has all. */
const MOST_GIVEN = 4;

const keysOf = (rows: readonly LedgerRow[]): string =>
  rows
    .map((row) => keyOf(realIds(row)))
    .sort()
    .join('|');

function greedy({ generations }: Ledger, { spans: { origin } }: LedgerRow): boolean {
  return (
    origin.kind === 'generation' &&
    origin.generations.every((at) => generations[at]?.temperature === undefined)
  );
}

// --- the same settings ---

const settings: LedgerProperty = {
  id: 'ranks/settings-are-alike',
  title:
    'Processes that train one model have one learning rate and one number of steps, and are all in train mode or none',
  stage: 'trace',
  level: 'should',
  why: 'A schedule that counts on one rank only, a validation that leaves one rank in eval mode: the copies drift apart, or part of the batch is trained without dropout.',
  catches: ['RNK-03'],
  needs: ({ replicas = [] }) =>
    replicas.some(meantAsOne) ? undefined : 'no processes were seen that share their gradients',
  judge: (ledger) => {
    let judged = 0;
    const found: Found[] = [];
    const notices: LedgerNotice[] = [];
    for (const set of ledger.replicas ?? []) {
      if (!meantAsOne(set)) continue;
      for (const { step } of set.steps) {
        judged++;
        found.push(...ratesOf(ledger, set, step), ...modesOf(ledger, set, step));
      }
      found.push(...stepsOf(ledger, set));
      notices.push(...microBatchesOf(ledger, set));
    }
    const judgement = judgementOf(judged, [], found);
    return notices.length === 0 ? judgement : { ...judgement, notices };
  },
};

const isJoined = ({ steps }: ReplicaSet): boolean => steps.some(({ joined }) => joined);

/** Processes that came to their own end, some of them behind fewer steps. */
function stepsOf(ledger: Ledger, set: ReplicaSet): readonly Found[] {
  const ended = set.ranks.every((rank) =>
    ledger.processes.some((each) => each.rank === rank && each.end?.reason === 'finished'),
  );
  const counts = set.ranks.map((rank) => ({
    rank,
    steps: ledger.steps.filter(({ ranks }) =>
      ranks.some((each) => each.rank === rank && each.done !== undefined),
    ).length,
  }));
  const [few, most] = [...counts]
    .sort((a, b) => a.steps - b.steps)
    .flatMap((each, at, all) => (at === 0 || at === all.length - 1 ? [each] : []));
  // Who makes no step at all leaves it to the others, and is given what they make.
  if (!ended || isJoined(set) || few === undefined || most === undefined) return [];
  if (few.steps === 0 || few.steps === most.steps) return [];
  return [
    {
      harm: most.steps - few.steps,
      tell: () => ({
        kind: 'steps',
        sentence: `Rank ${few.rank} made ${many(few.steps, 'step')} and rank ${most.rank} made ${most.steps}.`,
        note: 'Pad or drop the last batches so that all ranks have one number of them, or train inside of torch.distributed.algorithms.join.Join.',
        given: { counts },
      }),
    },
  ];
}

/** Legal, where batches are made by the tokens in them, and the loss is divided over all. */
function microBatchesOf(ledger: Ledger, set: ReplicaSet): readonly LedgerNotice[] {
  if (isJoined(set)) return [];
  for (const { step } of set.steps) {
    const counts = set.ranks.map((rank) => ({
      rank,
      count: new Set(
        ledger.rows
          .filter((row) => row.step === step && row.rank === rank && row.model === set.model)
          .map(({ forward }) => forward),
      ).size,
    }));
    const [first] = counts;
    const other = counts.find(({ count }) => count !== first?.count);
    if (first === undefined || other === undefined || counts.some(({ count }) => count === 0)) continue;
    return [
      {
        sentence: `Before step ${step}, rank ${first.rank} made ${first.count} calls for training and rank ${other.rank} made ${other.count}. Fine where batches are made by their tokens, and the loss is divided over those of all ranks.`,
        answers: [],
        remark: true,
      },
    ];
  }
  return [];
}

function ratesOf(ledger: Ledger, set: ReplicaSet, step: number): readonly Found[] {
  const rates = (ledger.steps.find(({ index }) => index === step)?.ranks ?? []).flatMap(({ rank, done }) =>
    set.ranks.includes(rank) && done !== undefined ? [{ rank, rates: done.learningRates }] : [],
  );
  const [first] = rates;
  const other = rates.find((each) => each.rates.join() !== first?.rates.join());
  // Groups in another number are shards of an optimiser.
  if (first === undefined || other === undefined || other.rates.length !== first.rates.length) return [];
  const at = other.rates.findIndex((rate, i) => rate !== first.rates[i]);
  return [
    {
      harm: 1 / (1 + step),
      tell: () => ({
        kind: 'rate',
        sentence: `At step ${step}, rank ${first.rank} steps at a learning rate of ${show(first.rates[at] ?? 0)} and rank ${other.rank} at ${show(other.rates[at] ?? 0)}.`,
        note: 'Make the optimiser and its schedule alike on all ranks, and step the schedule on all of them.',
        given: { step, ranks: rates },
      }),
    },
  ];
}

function modesOf(ledger: Ledger, set: ReplicaSet, step: number): readonly Found[] {
  const rows = ledger.rows.filter(
    (row) => row.step === step && row.model === set.model && set.ranks.includes(row.rank),
  );
  const modeOf = (rank: number): boolean | undefined => {
    const own = rows.filter((row) => row.rank === rank).map(({ training }) => training);
    return own.every((each) => each === own[0]) ? own[0] : undefined;
  };
  const modes = set.ranks.map((rank) => ({ rank, training: modeOf(rank) }));
  const [on, off] = [
    modes.find(({ training }) => training === true),
    modes.find(({ training }) => training === false),
  ];
  if (on === undefined || off === undefined) return [];
  return [
    {
      harm: 1 / (2 + step),
      tell: () => ({
        kind: 'mode',
        sentence: `Before step ${step}, the model is in train mode on rank ${on.rank} and in eval mode on rank ${off.rank}.`,
        note: 'Call model.train() on every rank after an evaluation that only one of them makes.',
        given: { step, modes },
      }),
    },
  ];
}

export const dataRules: readonly LedgerProperty[] = [parts, settings];

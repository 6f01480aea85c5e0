// Rewards of single tokens: where the score of a completion goes, and what the KL takes from it.
import {
  type Args,
  bandOf,
  discard,
  type Finding,
  type gapped,
  gapsBehind,
  type LaidGaps,
  layGaps,
  many,
  type Need,
  type Observed,
  type Ok,
  type Property,
  type RewardCase,
  redrawn,
  relations,
  rewardCase,
  rewardLabels,
  rowReward,
  type Subject,
  scoreColumns,
  show,
  stripOf,
  underGaps,
  underMask,
  type World,
} from '../../src/index.ts';

const stage = 'token_rewards';
const base = { stage, level: 'must', ops: [stage], labels: rewardLabels } as const;
const coverage = { 'unequal completions': 0.2, 'several rows': 0.2 };

const sendsProcessRewards = (world: World): boolean =>
  world.hello.ops.token_rewards?.process_rewards === true;
const given =
  (options: Parameters<typeof gapped>[2] = {}) =>
  (world: World) =>
    rewardCase({ ...options, processRewards: sendsProcessRewards(world) });

type Laid = LaidGaps<'process' | 'kl'>;

function argsOf(drawn: RewardCase, laid: Laid = layGaps<'process' | 'kl'>(drawn)): Args<'token_rewards'> {
  return {
    scores: drawn.rows.map(({ score }) => score),
    process_rewards: laid.track('process'),
    kl: laid.track('kl'),
    completion_mask: laid.completion_mask,
    prompt_width: laid.prompt_width,
    kl_coef: drawn.klCoef,
  };
}

interface Asked {
  readonly laid: Laid;
  readonly args: Args<'token_rewards'>;
  readonly rewards: Ok<'token_rewards'>['rewards'];
}

async function ask(subject: Subject, drawn: RewardCase, change: object = {}): Promise<Asked> {
  const laid = layGaps<'process' | 'kl'>(drawn);
  const args = { ...argsOf(drawn, laid), ...change };
  return { laid, args, rewards: (await subject.ask('token_rewards', args)).rewards };
}

/** One row as the finding shows it. */
function strip(subject: Subject, { laid, args, rewards }: Asked, row: number, marks: readonly number[]) {
  return stripOf(subject, {
    row,
    ids: (laid.completion_mask[row] ?? []).map((_, column) => column),
    roles: laid.roles[row] ?? [],
    tracks: { mask: laid.completion_mask[row] ?? [], kl: args.kl[row] ?? [], rewards: rewards[row] ?? [] },
    marks,
    shown: 'columns',
  });
}

/** The sum of a row's rewards over its trained tokens; and with the slot behind the last, where a score may stand. */
function totalsOf({ laid, rewards }: Asked, row: number): number[] {
  const mask = laid.completion_mask[row] ?? [];
  const [, behind] = scoreColumns(mask);
  const trained = underMask([rewards[row] ?? []], [mask]).reduce((sum, value) => sum + value, 0);
  return behind === undefined ? [trained] : [trained, trained + (rewards[row]?.[behind] ?? Number.NaN)];
}

const sums: Property<RewardCase> = {
  ...base,
  id: 'token_rewards/add-up-to-the-score-less-the-kl',
  title:
    "A row's rewards add up to its score and process rewards less kl_coef times the KL of its trained tokens",
  why: 'A score on padding is never seen. A score on every token counts as often as the answer is long. A KL with the wrong sign pulls the policy away from its reference.',
  catches: ['VAL-01', 'KL-12', 'KL-10', 'KL-01'],
  given: given(),
  coverage: { ...coverage, 'no KL in the reward': 0.05 },
  async check(subject, drawn) {
    const asked = await ask(subject, drawn);
    const { laid, args, rewards } = asked;
    for (const row of drawn.rows.keys()) {
      if (laid.last[row] === undefined) continue;
      const totals = totalsOf(asked, row);
      const expected = rowReward(row, {
        scores: args.scores,
        processRewards: args.process_rewards,
        kl: args.kl,
        mask: laid.completion_mask,
        klCoef: args.kl_coef,
      });
      const band = bandOf(subject, (rewards[row] ?? []).length);
      if (totals.some((total) => band.close(total, expected))) continue;
      const without = args.kl_coef === 0 ? '' : `, ${show(args.kl_coef)} times the KL taken off`;
      return {
        kind: 'sum',
        sentence: `The rewards of row ${row} add up to ${totals.map(show).join(', or with the slot after them to ')}; its score is ${show(args.scores[row])}${without}, which makes ${show(expected)}.`,
        strips: [strip(subject, asked, row, [])],
        note: band.reason,
      };
    }
    return undefined;
  },
};

/** Each row's own, so that a score that lands in another row shows; towards 0, since some clip scores to 5. */
const change = (score: number, row: number): number => (score > 0 ? -1 : 1) * (1 + row / 2);

/** Changes every score and looks which rewards follow. */
async function carriers(subject: Subject, drawn: RewardCase): Promise<Finding | undefined> {
  const before = await ask(subject, drawn);
  const scores = before.args.scores.map((score, row) => score + change(score, row));
  const after = await ask(subject, drawn, { scores });
  const band = bandOf(subject, 2);
  for (const row of drawn.rows.keys()) {
    const mask = before.laid.completion_mask[row] ?? [];
    const [last, behind] = scoreColumns(mask);
    if (last === undefined) continue;
    const owed = change(before.args.scores[row] ?? 0, row);
    const gained = mask.map((on, column) => {
      const by = (after.rewards[row]?.[column] ?? Number.NaN) - (before.rewards[row]?.[column] ?? Number.NaN);
      // What stands behind the row is anybody's, unless it is the score.
      return on === 1 || (column === behind && Number.isFinite(by)) ? by : 0;
    });
    const moved = gained.flatMap((by, column) => (band.close(by, 0) ? [] : [column]));
    const [only] = moved;
    const allowed = only === last || only === behind;
    if (only !== undefined && moved.length === 1 && allowed && band.close(gained[only], owed)) continue;
    const places = moved.map((column) => `token ${column} by ${show(gained[column])}`).join(', ');
    return {
      kind: moved.length === 0 ? 'lost' : moved.length > 1 ? 'spread' : 'misplaced',
      sentence: `With ${owed} added to the score of row ${row}, its rewards change at ${places || 'no trained token'}; it belongs to token ${last}, the last that is trained${behind === undefined ? '' : ', or to the slot after it'}.`,
      strips: [strip(subject, after, row, moved.length > 0 ? moved : [last])],
      note: band.reason,
    };
  }
  return undefined;
}

const carrier: Property<RewardCase> = {
  ...base,
  id: 'token_rewards/one-token-carries-the-score',
  title:
    'Exactly one reward of a row moves with its score: that of the last trained token, or of the slot after it',
  why: 'A score at another token credits what came before that token only; one at every token rewards length.',
  catches: ['VAL-01', 'KL-12', 'PAD-08'],
  given: given(),
  coverage,
  check: carriers,
};

const behindTools: Property<RewardCase> = {
  ...base,
  id: 'token_rewards/score-survives-masked-tokens',
  title:
    'The last trained token (or the slot after it) carries the score, also between and after masked tokens',
  why: 'The number of trained tokens is no position where a tool wrote in between: the score stands in the middle of the answer, or on output that nothing is learned from.',
  level: 'should',
  catches: ['VAL-01', 'MSK-12'],
  given: given({ gaps: true }),
  coverage: { gap: 0.15, 'ends in masked tokens': 0.15 },
  check: carriers,
};

const klStays: Property<RewardCase> = {
  ...base,
  id: 'token_rewards/kl-stays-at-its-token',
  title: 'Raising the KL of one token lowers its reward by kl_coef times as much, and no other',
  why: 'Summed up at the end, the KL of the first token is paid by the last one.',
  level: 'should',
  catches: ['KL-12', 'KL-10'],
  given: (world) => redrawn(given()(world), ({ klCoef }) => klCoef !== 0),
  coverage,
  async check(subject, drawn) {
    if (drawn.klCoef === 0) return discard('kl_coef is 0');
    const before = await ask(subject, drawn);
    // Another amount at each column: rewards that follow the KL of another token follow by another amount.
    const by = (column: number): number => 1 + column / 4;
    const { completion_mask: mask } = before.laid;
    const kl = before.args.kl.map((row, b) =>
      row.map((value, t) => (mask[b]?.[t] === 1 ? value + by(t) : value)),
    );
    const after = await ask(subject, drawn, { kl });
    const moves = (column: number): number => -drawn.klCoef * by(column);
    return followed(subject, before, after, moves, 'kl', `KL times the coefficient ${drawn.klCoef}`);
  },
};

const needsProcess: Need = (world) =>
  sendsProcessRewards(world) ? undefined : 'op `token_rewards` does not offer process_rewards';

const processStays: Property<RewardCase> = {
  ...base,
  id: 'token_rewards/process-rewards-stay-at-their-tokens',
  title: 'Raising the process reward of one token raises its reward by as much, and no other',
  why: 'A step that is rewarded at the end of the answer, or one token early, credits another decision.',
  catches: ['VAL-01', 'KL-12'],
  needs: [needsProcess],
  given: given(),
  coverage,
  async check(subject, drawn) {
    const before = await ask(subject, drawn);
    const by = (column: number): number => 1 + column / 4;
    const { completion_mask: mask } = before.laid;
    const process = before.args.process_rewards.map((row, b) =>
      row.map((value, t) => (mask[b]?.[t] === 1 ? value + by(t) : value)),
    );
    const after = await ask(subject, drawn, { process_rewards: process });
    return followed(subject, before, after, by, 'process', 'process reward');
  },
};

/** Whether each trained token's reward moved by `expected`, which the raised numbers of that very token ask for. */
function followed(
  subject: Subject,
  before: Asked,
  after: Asked,
  expected: (column: number) => number,
  kind: string,
  what: string,
): Finding | undefined {
  const band = bandOf(subject, 2);
  for (const [row, mask] of before.laid.completion_mask.entries()) {
    const moved = (column: number): number =>
      (after.rewards[row]?.[column] ?? Number.NaN) - (before.rewards[row]?.[column] ?? Number.NaN);
    const marks = mask.flatMap((on, column) =>
      on === 1 && !band.close(moved(column), expected(column)) ? [column] : [],
    );
    const [first] = marks;
    if (first === undefined) continue;
    return {
      kind,
      sentence: `The ${what} of token ${first} of row ${row} asks for a change of ${show(expected(first))}, and its reward changes by ${show(moved(first))} (${many(marks.length, 'token')} of the row ${marks.length === 1 ? 'is' : 'are'} off).`,
      strips: [strip(subject, after, row, marks)],
      note: band.reason,
    };
  }
  return undefined;
}

/** Without the last trained token: more padding may legally move the score from there to the slot behind it. */
async function withoutScore(subject: Subject, args: Args<'token_rewards'>): Promise<Observed> {
  const { rewards } = await subject.ask('token_rewards', args);
  const lasts = args.completion_mask.map((row) => row.lastIndexOf(1));
  return {
    fields: { rewards: rewards.map((row, b) => row.map((value, t) => (t === lasts[b] ? 0 : value))) },
  };
}

export const tokenRewardsProperties: readonly Property<RewardCase>[] = underGaps(gapsBehind, [
  sums,
  carrier,
  behindTools,
  klStays,
  processStays,
  ...relations({
    op: 'token_rewards',
    stage,
    noun: 'The reward of a token',
    given: given(),
    args: (drawn) => argsOf(drawn),
    labels: rewardLabels,
    coverage,
    allBut: ['padding', 'masked-values', 'nan-under-the-mask'],
    relations: {
      'batch-mates': { catches: ['PAD-08', 'VAL-01'] },
      inputs: { catches: ['KL-12'] },
    },
  }),
  ...relations({
    op: 'token_rewards',
    stage,
    noun: 'The reward of a token before the last',
    given: given(),
    args: (drawn) => argsOf(drawn),
    labels: rewardLabels,
    coverage,
    observe: withoutScore,
    relations: { padding: { catches: ['VAL-01'] } },
  }),
  ...relations({
    op: 'token_rewards',
    stage,
    noun: 'The reward of a trained token',
    given: given({ gaps: true }),
    args: (drawn) => argsOf(drawn),
    labels: rewardLabels,
    coverage: { gap: 0.15 },
    relations: { 'masked-values': { catches: ['KL-08', 'KL-12'] }, 'nan-under-the-mask': {} },
  }),
]);

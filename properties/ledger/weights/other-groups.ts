// Advantages that were made over other groups than the completions of one prompt. Nobody knows the rewards; but advantages less
// the mean of their group add up to 0 in it. Where they do so to the last digit over every n-th row, or over neighbours that are
// shifted, and not over the completions of one prompt, rewards and completions lay in different orders. Nothing is declared for it.
import {
  commonOf,
  isOpen,
  type Ledger,
  type LedgerJudgement,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  show,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';
import { needsSampled } from '../tokens/trained.ts';
import { type Found, judgementOf, targetStrips } from '../words.ts';
import { WAYS, type Way, withFactor } from './balance.ts';
import { groupRelative } from './declared.ts';
import { type Member, promptOf, tokensOf } from './groups.ts';

/** All sampled rows of one step, in the order in which they lay, with the prompt that each answers, by number. */
interface Step {
  readonly step: number;
  readonly members: readonly Member[];
  readonly prompts: readonly number[];
  readonly groups: number;
  readonly size: number;
}

/** Of the largest advantage, that is left of a sum where the mean was taken away before rounding to float32. */
const LEFT = 2e-3;
/** Of the largest advantage, that is left where another mean was taken away. */
const CLEARLY = 0.05;
/** Weights that are less exact than this tell no sum of 0 from chance. */
const EXACT = 1e-2;
const FEWEST_ROWS = 6;

/** Which group each row is in, by number. */
type Partition = readonly number[];

interface Order {
  /** The same in each step. */
  readonly name: string;
  /** `every 3rd row` */
  readonly words: string;
  readonly partition: Partition;
}

export const ofOwnPrompt: LedgerProperty = {
  id: 'trace/advantages-are-of-their-prompt',
  title: 'Advantages are not made over groups of completions to different prompts',
  stage: 'trace',
  level: 'must',
  why: 'Where rewards are reshaped to groups in another order than that of the completions, each answer is compared with answers to other questions. Easy prompts are pushed up, hard ones down, and the loss looks as it should.',
  catches: ['ADV-04'],
  needs: needsSampled,
  judge: (ledger): LedgerJudgement => {
    const steps = stepsOf(ledger);
    const sure = steps.filter((step) => typeof step !== 'string');
    const asides = steps.filter((step) => typeof step === 'string');
    const off = sure.filter((step) => !isCentredByPrompt(step));
    const order = commonOrder(off);
    const found = order === undefined ? [] : off.map((step) => foundIn(ledger, step, order));
    const judgement = judgementOf(sure.length, asides, found);
    const notice = found.length > 0 ? undefined : otherBaseline(ledger, sure);
    return notice === undefined ? judgement : { ...judgement, notices: [notice] };
  },
};

// --- helpers ---

function stepsOf(ledger: Ledger): (Step | string)[] {
  const numbers = [...new Set(ledger.rows.map(({ step }) => step))];
  return numbers.flatMap((step) => {
    const rows = ledger.rows.filter((row) => row.step === step && row.spans.origin.kind === 'generation');
    return rows.length < FEWEST_ROWS ? [] : [stepOf(ledger, step, rows)];
  });
}

/** Or why its weights say nothing of its groups. */
function stepOf(ledger: Ledger, step: number, rows: readonly LedgerRow[]): Step | string {
  const texts = rows.map((row) => promptOf(row).join(' '));
  const names = [...new Set(texts)];
  const size = rows.length / names.length;
  if (
    names.length < 2 ||
    size < 2 ||
    names.some((name) => texts.filter((each) => each === name).length !== size)
  )
    return 'the prompts of the step do not have equally many completions, two or more each';
  const members: Member[] = [];
  for (const row of rows) {
    const member = memberOf(ledger, row);
    if (typeof member === 'string') return member;
    members.push(member);
  }
  return { step, members, prompts: texts.map((text) => names.indexOf(text)), groups: names.length, size };
}

function memberOf(ledger: Ledger, row: LedgerRow): Member | string {
  const { origin } = row.spans;
  if (!row.reached || row.notFinite > 0) return 'no finite gradient reached a completion of the step';
  if (
    origin.kind !== 'generation' ||
    origin.generations.some((at) => ledger.generations[at]?.step !== row.step)
  )
    return 'the policy has stepped since the rows were sampled';
  const targets = targetsOf(row);
  if (targets.some(({ trained }) => isOpen(trained))) return 'no single target explains the gradient';
  const weights = weightsOf(targets);
  const weight = targets.length === 0 ? 0 : commonOf(weights);
  if (weight === undefined) return 'the tokens of a completion have several weights';
  const relative = Math.min(1, ...weights.map((each) => each.relative));
  if (targets.length > 0 && relative > EXACT) return 'weights of this precision do not tell a sum of 0';
  const batch = ledger.rows.filter(
    ({ step, rank, forward }) => step === row.step && rank === row.rank && forward === row.forward,
  );
  return {
    row,
    weight,
    relative,
    tokens: tokensOf(row),
    batchTokens: batch.reduce((sum, each) => sum + tokensOf(each), 0),
    batchRows: batch.length,
  };
}

/** Advantages as far as one factor, less what all have alike: a KL beside the objective, while the policy is its reference. */
function advantagesOf({ step, members }: Step, way: Way): readonly number[] {
  const values = withFactor({ step, members }, way);
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
  return values.map((each) => each - mean);
}

/** The largest sum of a group, as a share of the largest advantage; 0 where all are 0. */
function leftIn(values: readonly number[], partition: Partition): number {
  const sums: number[] = [];
  for (const [row, group] of partition.entries()) sums[group] = (sums[group] ?? 0) + (values[row] as number);
  const largest = Math.max(...values.map(Math.abs));
  return largest === 0 ? 0 : Math.max(...sums.map(Math.abs)) / largest;
}

/** Or nearly so: a script may take away another mean on purpose, and is not blamed for a group without spread. */
const isCentredByPrompt = (step: Step): boolean =>
  WAYS.some((way) => leftIn(advantagesOf(step, way), step.prompts) <= CLEARLY);

/** In which all of these steps are centred. */
function commonOrder(steps: readonly Step[]): { readonly name: string; readonly way: Way } | undefined {
  const [first] = steps;
  if (first === undefined) return undefined;
  const orders = new Map(steps.map((step) => [step, ordersOf(step)]));
  for (const way of WAYS) {
    const values = new Map(steps.map((step) => [step, advantagesOf(step, way)]));
    const isCentred = (step: Step, name: string): boolean => {
      const partition = orders.get(step)?.find((each) => each.name === name)?.partition;
      const own = values.get(step) ?? [];
      return partition !== undefined && leftIn(own, partition) <= LEFT && areApart(own, partition);
    };
    for (const { name } of orders.get(first) ?? [])
      if (steps.every((step) => isCentred(step, name))) return { name, way };
  }
  return undefined;
}

/** Orders in which people reshape by mistake. */
function ordersOf({ members, prompts, groups, size }: Step): Order[] {
  const count = members.length;
  const rows = Array.from({ length: count }, (_, row) => row);
  const every = (name: string, n: number): Order => ({
    name,
    words: `every ${ordinal(n)} row`,
    partition: rows.map((row) => row % n),
  });
  const neighbours = Array.from({ length: size }, (_, shift): Order => {
    const words = shift === 0 ? 'neighbouring rows' : `neighbouring rows, ${shift} on`;
    return {
      name: words,
      words,
      partition: rows.map((row) => Math.floor(((row - shift + count) % count) / size)),
    };
  });
  const orders = [every('as many as prompts', groups), every('as many as completions', size), ...neighbours];
  return orders.filter(({ partition }) => !isSame(partition, prompts));
}

/** The same groups, by other numbers. */
function isSame(a: Partition, b: Partition): boolean {
  const pairs = new Set(a.map((group, row) => `${group} ${b[row]}`));
  return pairs.size === new Set(a).size && pairs.size === new Set(b).size;
}

/**
 * Two groups without a value in common: with one mean for all, rewards of a few sizes make the same few values everywhere, and
 * sums of 0 by chance.
 */
function areApart(values: readonly number[], partition: Partition): boolean {
  const near = LEFT * Math.max(...values.map(Math.abs));
  const groups = [...new Set(partition)]
    .map((group) => values.filter((_, row) => partition[row] === group))
    .filter((own) => own.some((value) => Math.abs(value) > near));
  return groups.some((own, at) =>
    groups
      .slice(at + 1)
      .some((other) => own.every((value) => other.every((each) => Math.abs(value - each) > near))),
  );
}

function foundIn(
  ledger: Ledger,
  step: Step,
  { name, way }: { readonly name: string; readonly way: Way },
): Found {
  const values = advantagesOf(step, way);
  const left = leftIn(values, step.prompts);
  const { partition = [], words = name } = ordersOf(step).find((each) => each.name === name) ?? {};
  const mates = partition.flatMap((group, row) => (group === partition[0] ? [row] : []));
  return {
    harm: left,
    tell: () => ({
      kind: 'order',
      sentence: `The advantages of step ${step.step} add up to 0 over ${words} (rows ${mates.join(', ')}, and so on), which answer different prompts, and not over the ${step.size} completions to one prompt: ${show(left)} times the largest is left there.`,
      numbers: [
        {
          where: 'sum over one prompt, over the largest advantage',
          expected: 0,
          observed: left,
          allowed: LEFT,
        },
      ],
      ...targetStrips(ledger, step.members[0]?.row),
      note: 'Rewards and completions lie in different orders, or one of them was shifted: compare repeat with repeat_interleave, view(-1, n) with view(n, -1), and what was sorted or rolled in between.',
      given: {
        step: step.step,
        prompts: step.prompts,
        weights: step.members.map(({ weight }) => weight),
        tokens: step.members.map(({ tokens }) => tokens),
      },
    }),
  };
}

const ordinal = (count: number): string =>
  `${count}${count % 10 === 1 && count !== 11 ? 'st' : count % 10 === 2 && count !== 12 ? 'nd' : count % 10 === 3 && count !== 13 ? 'rd' : 'th'}`;

/** Several completions to each prompt are sampled to be compared with each other: another baseline is asked about. */
function otherBaseline(ledger: Ledger, steps: readonly Step[]): LedgerNotice | undefined {
  if (groupRelative(ledger.settings) !== undefined) return undefined;
  if (ledger.settings.semantics.advantage_baseline !== undefined) return undefined;
  const [first] = steps;
  const weights = steps.flatMap(({ members }) => members.map(({ weight }) => weight));
  if (first === undefined || new Set(weights).size < 2) return undefined;
  const where = steps.length === 1 ? `step ${first.step}` : `${steps.length} steps`;
  const signs = new Set(weights.filter((weight) => weight !== 0).map(Math.sign));
  if (signs.size === 1)
    return {
      sentence: `All completions of ${where} are pushed ${signs.has(1) ? 'up' : 'down'}, though each prompt was sampled ${first.size} times: no baseline is taken from their rewards.`,
      answers: ['"advantage_baseline": "none"', '"advantage_baseline": "group-mean"'],
    };
  const isOfBatch = steps.every(
    (step) => !isCentredByPrompt(step) && WAYS.some((way) => sumIn(withFactor(step, way)) <= LEFT),
  );
  if (!isOfBatch) return undefined;
  return {
    sentence: `The advantages of ${where} add up to 0 over all completions, and not over the ${first.size} to each prompt. The baseline is the mean of the batch: all answers to an easy prompt are pushed up.`,
    answers: ['"advantage_baseline": "batch-mean"', '"advantage_baseline": "group-mean"'],
  };
}

const sumIn = (values: readonly number[]): number =>
  leftIn(
    values,
    values.map(() => 0),
  );

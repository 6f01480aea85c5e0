// The entropy of the policy at each token: of the distribution that the token was drawn from, on completion tokens.
import {
  type Args,
  bandOf,
  cancellation,
  entropyOf,
  type Finding,
  holesBehind,
  isHalf,
  type LogitBatch,
  logitBatch,
  logitLabels,
  type Ok,
  type Property,
  type Role,
  type Subject,
  show,
  underGaps,
  type World,
} from '../../src/index.ts';
import { logitArgs } from './logprobs.ts';
import {
  counts,
  largestOf,
  meansOf,
  wrongMeanFinding,
  wrongTokens,
  wrongTokensFinding,
} from './masked-numbers.ts';

const given = (world: World) => logitBatch({ temperatures: false, holes: true, fine: !isHalf(world) });
export const base = {
  stage: 'entropy',
  level: 'must',
  ops: ['entropy'],
  given,
  labels: logitLabels,
} as const;
export const coverage = { 'several rows': 0.25, 'unequal rows': 0.25, 'labels with holes': 0.1 };

interface Laid {
  readonly args: Args<'entropy'>;
  readonly roles: readonly (readonly Role[])[];
}

export function laidOf(drawn: LogitBatch): Laid {
  const { args, roles } = logitArgs(drawn);
  const { temperature: _, ...rest } = args;
  // Tokens that are not trained, such as a tool's, are in the row and not in the mask.
  const completion_mask = drawn.rows.map(({ prompt, tokens }, row) =>
    (roles[row] ?? []).map((role, column) => {
      const at = column - args.prompt_width + prompt;
      return Number(role === 'completion' && tokens[at]?.ignored !== true);
    }),
  );
  return {
    args: { ...rest, completion_mask },
    roles: roles.map((row, at) =>
      row.map((role, column) =>
        role === 'completion' && completion_mask[at]?.[column] === 0 ? 'tool' : role,
      ),
    ),
  };
}

export const argsOf = (drawn: LogitBatch): Args<'entropy'> => laidOf(drawn).args;

/** (B, T): of the logits before each token; NaN where there are none. */
export const entropies = ({ logits }: Args<'entropy'>): number[][] =>
  logits.map((rows) => rows.map((_, t) => (t === 0 ? Number.NaN : entropyOf(rows[t - 1] ?? []))));

/** Beyond the band: the entropy may be a difference of two numbers as large as the logits. */
export const slackOf = (subject: Subject, args: Args<'entropy'>): number =>
  cancellation(subject, largestOf(args.logits));

export function meanFits(
  subject: Subject,
  args: Args<'entropy'>,
  observed: number,
  means: readonly number[],
): boolean {
  const band = bandOf(subject, args.completion_mask.flat().length);
  const slack = slackOf(subject, args);
  return means.some((mean) => band.close(observed, mean) || Math.abs(observed - mean) <= slack);
}

/** Positions that people read by mistake, to name the one that fits. */
const MISTAKES: readonly { readonly name: string; readonly by: number }[] = [
  { name: 'the logits at the token itself, which predict the next one', by: 1 },
  { name: 'the logits two tokens before', by: -1 },
];

/** Whether an entropy is the one expected, within the band and what cancels. */
export function fitsOf(subject: Subject, args: Args<'entropy'>): (value?: number, want?: number) => boolean {
  const band = bandOf(subject, args.logits[0]?.[0]?.length);
  const slack = slackOf(subject, args);
  return (value = Number.NaN, want = Number.NaN) =>
    band.close(value, want) || Math.abs(value - want) <= slack;
}

function compared(subject: Subject, { args, roles }: Laid, answer: Ok<'entropy'>): Finding | undefined {
  const expected = entropies(args);
  const band = bandOf(subject, args.completion_mask.flat().length);
  const observed = answer.entropy;
  const wrong = observed === undefined ? [] : wrongTokens(args, fitsOf(subject, args), observed, expected);
  const [first] = wrong;
  if (observed !== undefined && first !== undefined) {
    const [row, column] = first;
    const mistake = MISTAKES.find(({ by }) => {
      const moved = expected.map((values) => values.map((_, t) => values[t + by] ?? Number.NaN));
      return wrong.every(([at, t]) => band.close(observed[at]?.[t], moved[at]?.[t]));
    });
    return wrongTokensFinding(subject, args, {
      roles,
      wrong,
      observed,
      expected,
      band,
      sentence: `The entropy of token ${column} of row ${row} is ${show(observed[row]?.[column])}; that of the logits before it is ${show(expected[row]?.[column])}.${mistake === undefined ? '' : ` It equals that of ${mistake.name}.`}`,
      kind: mistake?.name,
    });
  }
  if (answer.mean_entropy === undefined) return undefined;
  const means = meansOf(expected, args.completion_mask);
  if (meanFits(subject, args, answer.mean_entropy, means)) return undefined;
  return wrongMeanFinding(args, { noun: 'entropy', observed: answer.mean_entropy, mean: means[0], band });
}

const equals: Property<LogitBatch> = {
  ...base,
  id: 'entropy/equals-the-definition',
  title:
    'The entropy of a token is -sum p log p of the logits one position before it, and the mean is over the mask',
  why: 'Entropy over padding, prompt or shifted positions steers its coefficient by a number that is not about the policy.',
  catches: ['PPO-08', 'MSK-04', 'MSK-02'],
  coverage,
  async check(subject, drawn) {
    const laid = laidOf(drawn);
    return compared(subject, laid, await subject.ask('entropy', laid.args));
  },
};

const bounded: Property<LogitBatch> = {
  ...base,
  id: 'entropy/between-zero-and-log-v',
  title: 'Entropy is never below 0, nor above the logarithm of the number of tokens',
  why: 'A negative entropy is a sign that was lost: a bonus for it makes the policy collapse.',
  catches: ['PPO-08', 'PPO-07'],
  coverage,
  async check(subject, drawn) {
    const { args } = laidOf(drawn);
    const answer = await subject.ask('entropy', args);
    const most = Math.log(drawn.vocabulary);
    const band = bandOf(subject, args.completion_mask.flat().length);
    const slack = slackOf(subject, args);
    const fits = (value: number): boolean =>
      value >= -Math.max(band.absolute, slack) && value <= most + Math.max(band.allowed(most), slack);
    const outside = (where: string, value: number): Finding => ({
      kind: value < 0 ? 'negative' : 'too large',
      sentence: `${where} is ${show(value)}; of ${drawn.vocabulary} tokens it is between 0 and ${show(most)}.`,
    });
    for (const [row, values] of (answer.entropy ?? []).entries()) {
      const column = values.findIndex((value, at) => counts(args, row, at) && !fits(value));
      if (column >= 0)
        return outside(`The entropy of token ${column} of row ${row}`, values[column] ?? Number.NaN);
    }
    return answer.mean_entropy === undefined || fits(answer.mean_entropy)
      ? undefined
      : outside('The mean entropy', answer.mean_entropy);
  },
};

export const entropyProperties: readonly Property<LogitBatch>[] = underGaps(holesBehind, [equals, bounded]);

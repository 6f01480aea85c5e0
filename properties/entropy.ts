// The entropy of the policy at each token: of the distribution that the token was drawn from, on completion tokens.
import {
  type Args,
  bandOf,
  cancellation,
  entropyOf,
  type Finding,
  type LogitBatch,
  logitBatch,
  logitLabels,
  type Matrix,
  maskedMean,
  numberFinding,
  type Ok,
  type Property,
  type Role,
  type Subject,
  show,
  stripOf,
} from '../src/index.ts';
import { logitArgs } from './logprobs.ts';

const given = () => logitBatch({ temperatures: false, holes: true });
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

/** Over tokens, or over rows of each row's mean, where a row without tokens counts 0 or is left out: all are in use. */
export function meansOf(values: Matrix, mask: Matrix): number[] {
  const rows = values.map((row, at) => maskedMean([row], [mask[at] ?? []]));
  const filled = rows.filter((mean) => !Number.isNaN(mean));
  const sum = filled.reduce((total, mean) => total + mean, 0);
  return [maskedMean(values, mask), sum / rows.length, sum / filled.length];
}

/** Beyond the band: the entropy may be a difference of two numbers as large as the logits. */
export const slackOf = (subject: Subject, args: Args<'entropy'>): number =>
  cancellation(
    subject,
    args.logits
      .flat(2)
      .reduce((largest, z) => (Number.isFinite(z) ? Math.max(largest, Math.abs(z)) : largest), 0),
  );

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
  { name: 'the logits at the token itself, which say what comes behind it', by: 1 },
  { name: 'the logits two tokens before', by: -1 },
];

export const counts = (
  args: Pick<Args<'entropy'>, 'completion_mask'>,
  row: number,
  column: number,
): boolean => args.completion_mask[row]?.[column] === 1;

/** Token by token against `expected` (B, T). */
export function wrongTokens(
  subject: Subject,
  args: Args<'entropy'>,
  observed: Matrix,
  expected: Matrix,
): [number, number][] {
  const band = bandOf(subject, args.logits[0]?.[0]?.length);
  const slack = slackOf(subject, args);
  const fits = (value = Number.NaN, want = Number.NaN): boolean =>
    band.close(value, want) || Math.abs(value - want) <= slack;
  return args.completion_mask.flatMap((row, at) =>
    row.flatMap((_, t): [number, number][] =>
      counts(args, at, t) && !fits(observed[at]?.[t], expected[at]?.[t]) ? [[at, t]] : [],
    ),
  );
}

function compared(subject: Subject, { args, roles }: Laid, answer: Ok<'entropy'>): Finding | undefined {
  const expected = entropies(args);
  const band = bandOf(subject, args.completion_mask.flat().length);
  if (answer.entropy !== undefined) {
    const observed = answer.entropy;
    const wrong = wrongTokens(subject, args, observed, expected);
    const [first] = wrong;
    if (first !== undefined) {
      const [row, column] = first;
      const mistake = MISTAKES.find(({ by }) => {
        const moved = expected.map((values) => values.map((_, t) => values[t + by] ?? Number.NaN));
        return wrong.every(([at, t]) => band.close(observed[at]?.[t], moved[at]?.[t]));
      });
      const only = (values: Matrix): (number | undefined)[] =>
        (values[row] ?? []).map((value, t) => (counts(args, row, t) ? value : undefined));
      return numberFinding({
        kind: mistake?.name ?? 'value',
        sentence: `The entropy of token ${column} of row ${row} is ${show(observed[row]?.[column])}; that of the logits before it is ${show(expected[row]?.[column])}.${mistake === undefined ? '' : ` It equals that of ${mistake.name}.`}`,
        band,
        pairs: wrong.map(([at, t]) => ({
          where: `row ${at}, token ${t}`,
          expected: expected[at]?.[t],
          observed: observed[at]?.[t],
        })),
        strips: [
          stripOf(subject, {
            row,
            ids: args.input_ids[row] ?? [],
            roles: roles[row] ?? [],
            tracks: { expected: only(expected), observed: only(observed) },
            marks: wrong.flatMap(([at, t]) => (at === row ? [t] : [])),
            shown: 'ids',
          }),
        ],
      });
    }
  }
  if (answer.mean_entropy === undefined) return undefined;
  const means = meansOf(expected, args.completion_mask);
  if (meanFits(subject, args, answer.mean_entropy, means)) return undefined;
  return numberFinding({
    kind: 'mean',
    sentence: `The mean entropy is ${show(answer.mean_entropy)}; over the ${args.completion_mask.flat().filter((on) => on === 1).length} tokens in the mask it is ${show(means[0])}.`,
    band,
    pairs: [{ where: 'mean', expected: means[0], observed: answer.mean_entropy }],
    note: 'A mean over rows of the mean of each row is accepted, too.',
  });
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

export const entropyProperties: readonly Property<LogitBatch>[] = [equals, bounded];

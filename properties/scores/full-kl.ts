// The exact KL between policy and reference at each token: over the whole vocabulary, of the distributions that the token
// was drawn from, on completion tokens.
import {
  type Args,
  bandOf,
  cancellation,
  discard,
  type Finding,
  fullKlOf,
  holesBehind,
  isHalf,
  type LogitBatch,
  logitBatch,
  logitLabels,
  type Matrix,
  type Ok,
  type Property,
  type Role,
  relations,
  type Subject,
  show,
  underGaps,
  type World,
} from '../../src/index.ts';
import { laidOf } from './entropy.ts';
import { logitArgs } from './logprobs.ts';
import {
  counts,
  largestOf,
  meansOf,
  wrongMeanFinding,
  wrongTokens,
  wrongTokensFinding,
} from './masked-numbers.ts';

type FullKl = Args<'full_kl'>;

const given =
  (minRows = 1) =>
  (world: World) =>
    logitBatch({
      fine: !isHalf(world),
      temperatures:
        world.hello.ops.full_kl?.temperature === true && world.semantics.temperature_in_scoring !== false,
      holes: true,
      references: true,
      minRows,
    });
const base = {
  stage: 'kl',
  level: 'must',
  ops: ['full_kl'],
  given: given(),
  labels: logitLabels,
  coverage: { 'several rows': 0.25, 'unequal rows': 0.25, 'labels with holes': 0.1 },
} as const;

interface Laid {
  readonly args: FullKl;
  readonly roles: readonly (readonly Role[])[];
}

function klLaid(drawn: LogitBatch): Laid {
  const { args, roles } = laidOf(drawn);
  const rows = drawn.rows.map((row) => ({
    ...row,
    tokens: row.tokens.map((token) => ({ ...token, logits: token.reference ?? token.logits })),
  }));
  const { logits: ref_logits } = logitArgs({ ...drawn, rows }).args;
  return { args: { ...args, ref_logits, temperature: drawn.temperature }, roles };
}

/** (B, T): of the logits before each token, or those `by` columns on; NaN where there are none. */
function exact({ logits, ref_logits: ref, temperature }: FullKl, by = 0, divided = [1, 1]): number[][] {
  const scaled = (row: readonly number[] | undefined, times = 1): number[] | undefined =>
    row?.map((z) => z / temperature ** times);
  return logits.map((rows, b) =>
    rows.map((_, t) => {
      const [p, q] = [scaled(rows[t - 1 + by], divided[0]), scaled(ref[b]?.[t - 1 + by], divided[1])];
      return p === undefined || q === undefined ? Number.NaN : fullKlOf(p, q);
    }),
  );
}

const swapped = (args: FullKl): FullKl => ({ ...args, logits: args.ref_logits, ref_logits: args.logits });

/** What people compute by mistake, to name the one that fits. */
const MISTAKES: readonly { readonly name: string; readonly values: (args: FullKl) => Matrix }[] = [
  { name: 'policy and reference swapped', values: (args) => exact(swapped(args)) },
  {
    name: 'the logits at the token itself, which predict the next one',
    values: (args) => exact(args, 1),
  },
  { name: 'logits that were not divided by the temperature', values: (args) => exact(args, 0, [0, 0]) },
  {
    name: "the reference's logits not divided by the temperature",
    values: (args) => exact(args, 0, [1, 0]),
  },
];

/** Both log-probabilities may be differences of numbers as large as the logits; a mean under p is no larger. */
function fitsOf(subject: Subject, { logits, ref_logits, temperature }: FullKl) {
  const size = largestOf(logits) + largestOf(ref_logits);
  const band = bandOf(subject, logits[0]?.[0]?.length);
  const slack = cancellation(subject, (2 * size) / temperature + Math.log(logits[0]?.[0]?.length ?? 1));
  const fits = (value = Number.NaN, want = Number.NaN): boolean =>
    band.close(value, want) || Math.abs(value - want) <= slack;
  return { band, fits };
}

/** `expected` (B, T) against what was answered: token by token, or the mean. */
function compared(
  subject: Subject,
  { args, roles }: Laid,
  answer: Ok<'full_kl'>,
  what: { readonly expected: Matrix; readonly when?: string; readonly mistakes?: typeof MISTAKES },
): Finding | undefined {
  const { expected, when = '', mistakes = [] } = what;
  const { band, fits } = fitsOf(subject, args);
  const observed = answer.kl;
  const wrong = observed === undefined ? [] : wrongTokens(args, fits, observed, expected);
  const [first] = wrong;
  if (observed !== undefined && first !== undefined) {
    const [row, column] = first;
    const mistake = mistakes.find(
      ({ values }) => wrongTokens(args, fits, observed, values(args)).length === 0,
    );
    return wrongTokensFinding(subject, args, {
      roles,
      wrong,
      observed,
      expected,
      band,
      sentence: `The KL at token ${column} of row ${row} is ${show(observed[row]?.[column])}; of the logits before it, policy against reference, it is ${show(expected[row]?.[column])}${when}.${mistake === undefined ? '' : ` It equals what comes of ${mistake.name}.`}`,
      kind: mistake?.name,
    });
  }
  const means = meansOf(expected, args.completion_mask);
  if (answer.mean_kl === undefined || means.some((mean) => fits(answer.mean_kl, mean))) return undefined;
  return wrongMeanFinding(args, { noun: 'KL', when, observed: answer.mean_kl, mean: means[0], band });
}

/** The same request with other logits wherever no token of the mask is drawn from them. */
function elsewhere(args: FullKl): FullKl {
  const changed = (cube: FullKl['logits'], odd: number) =>
    cube.map((rows, at) =>
      rows.map((row, t) =>
        counts(args, at, t + 1) ? row : row.map((_, id) => (id % 2 === odd ? JUNK : -JUNK)),
      ),
    );
  return { ...args, logits: changed(args.logits, 0), ref_logits: changed(args.ref_logits, 1) };
}
/** Large enough to make a distribution certain, small enough for float16. */
const JUNK = 30;

export const fullKlProperties: readonly Property<LogitBatch>[] = underGaps(holesBehind, [
  {
    ...base,
    id: 'kl/over-the-vocabulary-equals-the-definition',
    title:
      'The exact KL of a token is sum p (log p - log q) of the logits one position before it, and the mean is over the mask',
    why: 'A KL that is swapped, shifted or at another temperature is as smooth as the right one, and ties the policy to something else.',
    catches: ['KL-03', 'KL-08', 'LOSS-14'],
    async check(subject, drawn) {
      const laid = klLaid(drawn);
      const answer = await subject.ask('full_kl', laid.args);
      return compared(subject, laid, answer, { expected: exact(laid.args), mistakes: MISTAKES });
    },
  },
  {
    ...base,
    id: 'kl/over-the-vocabulary-ignores-logits-elsewhere',
    title:
      'Logits from which no completion token is drawn (prompt, padding, tool output, the end) change no exact KL',
    why: 'A KL over prompts or padding pulls the policy towards the reference on tokens that are not trained.',
    catches: ['KL-08'],
    async check(subject, drawn) {
      const laid = klLaid(drawn);
      const answer = await subject.ask('full_kl', elsewhere(laid.args));
      return compared(subject, laid, answer, {
        expected: exact(laid.args),
        when: ', whatever the logits that no token of the mask is drawn from',
      });
    },
  },
  {
    ...base,
    id: 'kl/over-the-vocabulary-impossible-tokens-add-nothing',
    title: 'A token that neither policy nor reference can produce adds nothing to the exact KL',
    why: 'Vocabularies are padded with minus infinity; 0 * (-inf + inf) is NaN, and the step is lost.',
    // Public trainers compute p (log p - log q) as it stands, and train well while no logit is masked.
    level: 'should',
    catches: ['NUM-06'],
    async check(subject, drawn) {
      const laid = klLaid(drawn);
      if (laid.args.completion_mask.flat().every((on) => on === 0)) return discard('no token is in the mask');
      const banned = (cube: FullKl['logits']) =>
        cube.map((rows) => rows.map((row) => row.map((z, id) => (id === 0 ? Number.NEGATIVE_INFINITY : z))));
      const args = {
        ...laid.args,
        logits: banned(laid.args.logits),
        ref_logits: banned(laid.args.ref_logits),
      };
      const answer = await subject.ask('full_kl', args);
      return compared(subject, { ...laid, args }, answer, {
        expected: exact(args),
        when: ' where token 0 of the vocabulary is impossible in both',
      });
    },
  },
  ...relations({
    op: 'full_kl',
    stage: 'kl',
    prefix: 'kl/over-the-vocabulary-',
    noun: 'The exact KL',
    given: given(2),
    args: (drawn) => klLaid(drawn).args,
    labels: logitLabels,
    coverage: { 'unequal rows': 0.25 },
    allBut: [],
    relations: {
      // What is logged may leave out a row that broke; what is trained may not.
      'nan-shows': { level: 'should' },
      padding: { catches: ['KL-08'] },
      inputs: { catches: ['KL-08'] },
      'batch-mates': { catches: ['KL-08'] },
      stacked: { catches: ['KL-08'] },
      long: { catches: ['KL-08'] },
    },
  }),
]);

// Generalised advantage estimation: what a token gained over what the critic expected, and what the critic should have said.
import {
  type Args,
  bandOf,
  describeWhitening,
  discard,
  type Finding,
  type GaeCase,
  gaeAdvantages,
  gaeCase,
  gaeLabels,
  gapsBehind,
  impliedShrink,
  type LaidGaps,
  layGaps,
  type Matrix,
  moments,
  type Ok,
  type Property,
  relations,
  type Semantics,
  type Subject,
  show,
  stripOf,
  trainedTokens,
  underGaps,
  underMask,
  whitened,
  whitenVariants,
  withoutGaps,
} from '../../src/index.ts';
import { besideTheSlot } from './gae-slot.ts';

export const base = { stage: 'gae', level: 'must', ops: ['gae'], labels: gaeLabels } as const;
export const coverage = { 'unequal completions': 0.2, 'gamma below 1': 0.25, 'lambda between 0 and 1': 0.15 };

type Laid = LaidGaps<'reward' | 'value'>;

/** Fewer trained tokens are left where a case was made small, and a trainer that whitens cannot. */
const LEAST_TOKENS = 2;

export function argsOf(
  drawn: GaeCase,
  laid: Laid = layGaps<'reward' | 'value'>(drawn),
  behind = 0,
): Args<'gae'> {
  if (trainedTokens(drawn) < LEAST_TOKENS) return discard('too few tokens are trained');
  return {
    rewards: laid.track('reward', { behind }),
    // Another number, so that rewards and values do not cancel.
    values: laid.track('value', { behind: -2 * behind }),
    completion_mask: laid.completion_mask,
    prompt_width: laid.prompt_width,
    gamma: drawn.gamma,
    lam: drawn.lam,
  };
}

interface Asked {
  readonly laid: Laid;
  readonly args: Args<'gae'>;
  readonly answer: Ok<'gae'>;
}

export async function ask(subject: Subject, drawn: GaeCase, behind = 0): Promise<Asked> {
  const laid = layGaps<'reward' | 'value'>(drawn);
  const args = argsOf(drawn, laid, behind);
  return { laid, args, answer: await subject.ask('gae', args) };
}

const reference = ({ rewards, values, completion_mask, gamma, lam }: Args<'gae'>): number[][] =>
  gaeAdvantages(rewards, values, completion_mask, gamma, lam);

/** Whitening magnifies rounding by what it divides by; below this deviation nothing can be said. */
const LEAST_DEVIATION = 1e-3;

/** Columns of each row where two tracks differ, of the trained ones. */
export function differing(
  subject: Subject,
  mask: Matrix,
  observed: Matrix,
  expected: Matrix,
  magnified = 1,
): { readonly row: number; readonly columns: readonly number[] }[] {
  const band = bandOf(subject, underMask(expected, mask).length);
  const near = (got: number | undefined, want: number | undefined): boolean =>
    band.close(got, want) ||
    Math.abs((got ?? Number.NaN) - (want ?? Number.NaN)) <= band.absolute * magnified;
  return mask.flatMap((marks, row) => {
    const columns = marks.flatMap((on, column) =>
      on === 1 && !near(observed[row]?.[column], expected[row]?.[column]) ? [column] : [],
    );
    return columns.length > 0 ? [{ row, columns }] : [];
  });
}

/** What is declared of whitening; what was measured of it was measured of another op, which may do it in its own way. */
const declared = ({ semantics, measured = {} }: Subject): Semantics =>
  Object.fromEntries(
    Object.entries(semantics).filter(([item]) => !(item.startsWith('whiten_') && item in measured)),
  );

/** Advantages may come whitened over the batch; a trainer that does so says how, or any known way is accepted. */
function isWhitened(subject: Subject, raw: Matrix, mask: Matrix, observed: Matrix): boolean {
  return whitenVariants(declared(subject)).some((variant) => {
    const { deviation } = moments(raw, mask, variant.ddof);
    if (deviation < LEAST_DEVIATION) return alike(subject, underMask(observed, mask));
    const shrink = impliedShrink(raw, mask, observed, variant);
    const expected = whitened(raw, mask, variant, shrink);
    return differing(subject, mask, observed, expected, Math.max(1, 1 / deviation)).length === 0;
  });
}

const alike = (subject: Subject, values: readonly number[]): boolean =>
  values.every((value) => bandOf(subject).close(value, values[0]));

export function finding(
  subject: Subject,
  { laid, args, answer }: Asked,
  parts: {
    readonly kind: string;
    readonly field: 'advantages' | 'returns';
    readonly expected: Matrix;
    readonly wrong: ReturnType<typeof differing>[number];
    readonly sentence: (column: number, observed: string, expected: string) => string;
    readonly note?: string;
  },
): Finding {
  const { kind, field, expected, wrong } = parts;
  const { row, columns } = wrong;
  const [first = 0] = columns;
  const observed = answer[field]?.[row] ?? [];
  return {
    kind,
    sentence: parts.sentence(first, show(observed[first]), show(expected[row]?.[first])),
    strips: [
      stripOf(subject, {
        row,
        ids: observed.map((_, column) => column),
        roles: laid.roles[row] ?? [],
        tracks: {
          mask: args.completion_mask[row] ?? [],
          rewards: args.rewards[row] ?? [],
          values: args.values[row] ?? [],
          [field]: observed,
          expected: expected[row] ?? [],
        },
        marks: columns,
        shown: 'columns',
      }),
    ],
    note: parts.note ?? bandOf(subject).reason,
  };
}

const equals: Property<GaeCase> = {
  ...base,
  id: 'gae/equals-the-sum-of-deltas',
  title:
    'The advantage of a token is the sum of (gamma * lambda)^k delta_k from it on, with no value after the row',
  why: 'A value read one token late, or a bootstrap from padding, credits each decision with the gain of another.',
  catches: ['VAL-03', 'VAL-01', 'PAD-08'],
  given: () => gaeCase(),
  coverage,
  async check(subject, drawn) {
    const asked = await ask(subject, drawn);
    const { args, answer } = asked;
    const { completion_mask: mask } = args;
    const raw = reference(args);
    const [wrong] = differing(subject, mask, answer.advantages, raw);
    if (wrong === undefined || isWhitened(subject, raw, mask, answer.advantages)) return undefined;
    const [usual] = whitenVariants(declared(subject));
    return finding(subject, asked, {
      kind: 'value',
      field: 'advantages',
      expected: raw,
      wrong,
      sentence: (column, observed, expected) =>
        `The advantage of token ${column} of row ${wrong.row} is ${observed}; with gamma ${args.gamma} and lambda ${args.lam} its rewards and values give ${expected}.`,
      ...(usual === undefined
        ? {}
        : { note: `Nor are they that in any known form of whitening: ${describeWhitening(usual)}, say.` }),
    });
  },
};

const returns: Property<GaeCase> = {
  ...base,
  id: 'gae/returns-are-advantages-plus-values',
  title: "The critic's targets are the advantages, before any whitening, plus the values",
  why: 'Targets made of whitened advantages, or of rewards that are summed without lambda, teach the critic another scale than the one it is read on.',
  catches: ['VAL-03', 'ADV-06'],
  given: () => gaeCase(),
  coverage,
  async check(subject, drawn) {
    const asked = await ask(subject, drawn);
    const { args, answer } = asked;
    if (answer.returns === undefined) return discard('the trainer answers no returns', 'trainer');
    const expected = reference(args).map((row, b) =>
      row.map((value, t) => value + (args.values[b]?.[t] ?? 0)),
    );
    const [wrong] = differing(subject, args.completion_mask, answer.returns, expected);
    if (wrong === undefined) return undefined;
    return finding(subject, asked, {
      kind: 'return',
      field: 'returns',
      expected,
      wrong,
      sentence: (column, observed, want) =>
        `The return of token ${column} of row ${wrong.row} is ${observed}; its advantage and the value ${show(args.values[wrong.row]?.[column])} make ${want}.`,
    });
  },
};

const compressed: Property<GaeCase> = {
  ...base,
  id: 'gae/masked-tokens-are-no-steps',
  title: 'Masked tokens between or after trained ones change no advantage and no return',
  why: "A tool's output is not a decision: counted as a step, it discounts what follows it; counted as the end of the row, it cuts the credit off.",
  catches: ['VAL-04', 'VAL-01'],
  given: () => gaeCase({ gaps: true }),
  coverage: { gap: 0.15, 'ends in masked tokens': 0.15 },
  async check(subject, drawn) {
    const asked = await ask(subject, drawn);
    const without = await ask(subject, withoutGaps(drawn));
    const { args, answer } = asked;
    const { completion_mask: mask } = args;
    for (const field of ['advantages', 'returns'] as const) {
      const [observed, other] = [answer[field], without.answer[field]];
      if (observed === undefined || other === undefined) continue;
      const kept = other.map((row, b) => row.filter((_, t) => without.laid.completion_mask[b]?.[t] === 1));
      const expected = mask.map((marks, b) => {
        let next = 0;
        return marks.map((on) => (on === 1 ? (kept[b]?.[next++] ?? Number.NaN) : 0));
      });
      const { deviation } = moments(reference(args), mask, 0);
      const magnified = Math.max(1, 1 / Math.max(deviation, LEAST_DEVIATION));
      const [wrong] = differing(subject, mask, observed, expected, magnified);
      if (wrong === undefined) continue;
      const what = field === 'returns' ? 'return' : 'advantage';
      return finding(subject, asked, {
        kind: field,
        field,
        expected,
        wrong,
        sentence: (column, seen, want) =>
          `The ${what} of token ${column} of row ${wrong.row} is ${seen}, but ${want} when the masked tokens are left out: they count as steps.`,
      });
    }
    return undefined;
  },
};

const related = {
  op: 'gae',
  stage: 'gae',
  noun: 'The advantage of a token',
  args: (drawn: GaeCase) => argsOf(drawn),
  labels: gaeLabels,
} as const;

export const gaeProperties: readonly Property<GaeCase>[] = underGaps(gapsBehind, [
  equals,
  returns,
  ...besideTheSlot([compressed]),
  ...relations({
    ...related,
    given: () => gaeCase(),
    coverage,
    allBut: ['stacked', 'masked-values', 'nan-under-the-mask'],
    relations: {
      padding: { catches: ['VAL-01', 'VAL-03'] },
      inputs: { catches: ['VAL-03'] },
    },
  }),
  ...relations({
    ...related,
    noun: "The critic's target of a token",
    given: () => gaeCase(),
    // Advantages may be whitened, with one token fewer than there are: a larger batch has another scale.
    observe: async (subject, args) => {
      const { returns } = await subject.ask('gae', args);
      return returns === undefined
        ? discard('the answer has no returns', 'trainer')
        : { fields: { returns } };
    },
    relations: { stacked: {} },
  }),
  ...besideTheSlot(
    relations({
      ...related,
      given: () => gaeCase({ gaps: true }),
      coverage: { gap: 0.15 },
      relations: {
        // A trainer that hands the score out behind the last token reads that slot on purpose.
        'masked-values': { level: 'should', catches: ['VAL-03', 'VAL-04'] },
        'nan-under-the-mask': {},
      },
    }),
  ),
]);

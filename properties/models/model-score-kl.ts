// Whole models against a second checkpoint: the reference's log-probabilities, the KL and the entropy, token by token on
// the tokens of completions.
import {
  type Args,
  completionKl,
  completionScores,
  describeKl,
  discard,
  handed,
  klTerm,
  klVariants,
  loadable,
  loads,
  modelBand,
  modelBatch,
  modelLabels,
  modelTokens,
  type Need,
  type Ok,
  type Property,
  type Ragged,
  ROTARY,
  referenceSeed,
  type Subject,
  type World,
} from '../../src/index.ts';
import { variantsOf } from '../scores/kl-variants.ts';
import {
  type Comparison,
  type Drawn,
  expectedLogprobs,
  MODEL_CASES,
  scoreArgs,
  tokenDifference,
} from './model-score-rows.ts';

const coverage = { 'several rows': 0.3, 'unequal prompts': 0.2 };
/** At other temperatures than 1, where the trainer scores with them. */
const scored = (world: World) =>
  modelBatch({
    tokens: world.hello.tokens,
    kinds: loadable('model_score', ROTARY, world),
    temperatures:
      world.hello.ops.model_score?.temperature === true && world.semantics.temperature_in_scoring !== false,
  });

const base = {
  stage: 'model',
  level: 'must',
  ops: ['model_score'],
  mostCases: MODEL_CASES,
  labels: modelLabels,
  coverage,
  given: scored,
} as const;

const withReference: Need = ({ hello }) =>
  hello.ops.model_score?.reference === true ? undefined : 'op `model_score` does not offer reference';
const needs = [modelTokens, loads('model_score', ROTARY)];

interface Pair {
  readonly policy: ReturnType<typeof handed>;
  readonly reference: ReturnType<typeof handed>;
  readonly args: Args<'model_score'>;
  readonly ok: Ok<'model_score'>;
}

async function asked(subject: Subject, drawn: Drawn): Promise<Pair> {
  const policy = handed(subject, drawn.kind, drawn.seed);
  const reference = handed(subject, drawn.kind, referenceSeed(drawn));
  const args = { ...scoreArgs(drawn, policy), reference_path: reference.path };
  return { policy, reference, args, ok: await subject.ask('model_score', args) };
}

/** What a KL may be, and by how much more than a log-probability it may be off. */
interface Kl {
  readonly name: string;
  readonly values: Ragged;
  readonly slack: Ragged;
}

/** Of the declared kind, or of all that are known. */
function klChoices(subject: Subject, drawn: Drawn, { policy, reference }: Omit<Pair, 'ok' | 'args'>): Kl[] {
  const declared = subject.hello.ops.model_score?.kl;
  if (declared === 'exact') return [exactKl(drawn, { policy, reference })];
  const [ours, theirs] = [policy, reference].map((each) => expectedLogprobs(drawn, each));
  const semantics = { ...subject.semantics, kl_ratio_correction: false, kl_level: 'token' as const };
  const { kl_estimator: _, ...any } = semantics;
  const variants = declared === undefined ? klVariants(any) : variantsOf({ ...subject, semantics }, declared);
  const estimates = variants.map((variant): Kl => {
    const terms = (ours ?? []).map((row, b) =>
      row.map((logprob, t) => klTerm(logprob, theirs?.[b]?.[t] ?? Number.NaN, logprob, variant)),
    );
    return {
      name: describeKl(variant),
      values: terms.map((row) => row.map(({ value }) => value)),
      // Both log-probabilities are off; and the slope itself moves with them.
      slack: terms.map((row) =>
        row.map(({ value, slope }) => 2 * (1 + Math.abs(slope)) + SECOND_ORDER * Math.abs(value)),
      ),
    };
  });
  return declared === undefined ? [exactKl(drawn, { policy, reference }), ...estimates] : estimates;
}

/** Sums over the vocabulary at every token, of two models: at a real one most of the work, so only where it is asked for. */
function exactKl(drawn: Drawn, { policy, reference }: Omit<Pair, 'ok' | 'args'>): Kl {
  const exact = drawn.prompts.map((prompt, row) =>
    completionKl(policy.model, reference.model, prompt, drawn.completions[row] ?? [], drawn.temperature),
  );
  return {
    name: 'the exact KL over the vocabulary',
    values: exact.map((row) => row.map(({ kl }) => kl)),
    // The reference's log-probabilities move it by at most twice what they are off by.
    slack: exact.map((row) => row.map(({ spread }) => 2 + spread)),
  };
}

/** An exponential of a difference that is off by 1 % is off by little more than 1 % of itself. */
const SECOND_ORDER = 2;

/** The same numbers one token late or early, with the two models swapped, or over the prompt. */
function klMistakes(subject: Subject, drawn: Drawn, pair: Pair): NonNullable<Comparison['mistakes']> {
  const late = (values: Ragged, by: number): Ragged =>
    values.map((row) => row.map((_, at) => row[at + by] ?? Number.NaN));
  const before = (): Kl[] => {
    // One column early: the last token of the prompt is taken for the first of the completion.
    const moved: Drawn = {
      ...drawn,
      prompts: drawn.prompts.map((prompt) => prompt.slice(0, -1)),
      completions: drawn.completions.map((completion, row) => [
        ...(drawn.prompts[row]?.slice(-1) ?? []),
        ...completion.slice(0, -1),
      ]),
    };
    return drawn.prompts.every((prompt) => prompt.length > 1) ? klChoices(subject, moved, pair) : [];
  };
  const swapped = (): Kl[] => klChoices(subject, drawn, { policy: pair.reference, reference: pair.policy });
  const named = (name: string, kls: () => readonly Kl[]) =>
    kls().map((kl) => ({ name: `${kl.name} ${name}`, values: () => kl.values }));
  return [
    ...named('of the token before, the last of the prompt first', before),
    ...named('with policy and reference swapped', swapped),
    ...klChoices(subject, drawn, pair).map(({ name, values }) => ({
      name: `${name} of the next token`,
      values: () => late(values, 1),
    })),
  ];
}

export const modelKlProperties: readonly Property<Drawn>[] = [
  {
    ...base,
    id: 'model/reference-logprobs-equal-the-reference',
    title: 'Log-probabilities of the frozen reference are those of its own checkpoint',
    why: 'A reference that shares the weights of the policy, or was never loaded, gives a KL that holds nothing back.',
    catches: ['LP-15'],
    needs: [...needs, withReference],
    async check(subject, drawn) {
      const { policy, reference, ok } = await asked(subject, drawn);
      if (ok.ref_logprobs === undefined)
        return ok.kl === undefined
          ? {
              kind: 'missing',
              sentence: 'A reference_path was sent, and the answer has neither ref_logprobs nor kl.',
            }
          : discard('the answer has no ref_logprobs', 'trainer');
      return tokenDifference({
        subject,
        drawn,
        noun: 'reference log-probability',
        kind: 'value',
        band: modelBand(subject, drawn, reference),
        expected: expectedLogprobs(drawn, reference),
        observed: ok.ref_logprobs,
        mistakes: [
          { name: 'the policy instead of the reference', values: () => expectedLogprobs(drawn, policy) },
        ],
      });
    },
  },
  {
    ...base,
    id: 'model/kl-equals-the-reference',
    title:
      'The KL against a second checkpoint is the reference models’, on every completion token and on no other',
    why: 'Taken one token late, or with the two models swapped, a KL is as large as the right one and smooth: its mean shows nothing.',
    catches: ['KL-03', 'KL-06', 'KL-08'],
    needs: [...needs, withReference],
    async check(subject, drawn) {
      const pair = await asked(subject, drawn);
      const { ok, policy } = pair;
      if (ok.kl === undefined) return discard('the answer has no kl', 'trainer');
      const band = modelBand(subject, drawn, policy);
      const observed = ok.kl;
      const compared = ({ name, values, slack }: Kl, mistakes: Comparison['mistakes'] = []) =>
        tokenDifference({
          subject,
          drawn,
          noun: 'KL',
          kind: 'value',
          band,
          expected: values,
          observed,
          slack,
          where: ` as ${name}`,
          mistakes,
        });
      const choices = klChoices(subject, drawn, pair);
      const [first] = choices;
      if (first === undefined || choices.some((kl) => compared(kl) === undefined)) return undefined;
      // Four times the work, and only of use to name what was found.
      return compared(first, klMistakes(subject, drawn, pair));
    },
  },
  {
    ...base,
    id: 'model/entropy-equals-the-reference',
    title:
      'The entropy at a completion token is that of the distribution that predicts it, over the whole vocabulary',
    why: 'An entropy of another position, or of some of the vocabulary, rewards the policy for what it did not choose.',
    catches: ['LP-01', 'LP-05'],
    needs,
    given: scored,
    async check(subject, drawn) {
      const used = handed(subject, drawn.kind, drawn.seed);
      const { entropy } = await subject.ask('model_score', scoreArgs(drawn, used));
      if (entropy === undefined) return discard('the answer has no entropy', 'trainer');
      const scores = drawn.prompts.map((prompt, row) =>
        completionScores(used.model, prompt, [...(drawn.completions[row] ?? []), 0], drawn.temperature),
      );
      return tokenDifference({
        subject,
        drawn,
        noun: 'entropy',
        kind: 'value',
        band: modelBand(subject, drawn, used),
        expected: scores.map(({ entropy: row }) => row.slice(0, -1)),
        observed: entropy,
        mistakes: [
          {
            name: 'the entropy after the token, not before it',
            values: () => scores.map(({ entropy: row }) => row.slice(1)),
          },
          {
            name: 'the entropy at temperature 1, not at the one that was asked for',
            values: () =>
              drawn.prompts.map(
                (prompt, row) =>
                  completionScores(used.model, prompt, drawn.completions[row] ?? [], 1).entropy,
              ),
          },
        ],
      });
    },
  },
];

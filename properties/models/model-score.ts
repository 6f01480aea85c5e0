// The trainer's own forward pass on a checkpoint that the harness wrote: every number of it must be the reference model's,
// whatever the batch looks like. Rotary models and those with learned positions are asked apart: a padding that is
// harmless to the first moves every position of the second.
import {
  discard,
  type Finding,
  handed,
  LEARNED,
  loadable,
  loads,
  type ModelKind,
  modelBand,
  modelBatch,
  modelLabels,
  modelTokens,
  type Need,
  type Property,
  ROTARY,
  relations,
  type Subject,
  type World,
} from '../../src/index.ts';
import { otherId } from '../scores/other-ids.ts';
import {
  type Drawn,
  expectedLogprobs,
  MODEL_CASES,
  scoreArgs,
  scoreMistakes,
  tokenDifference,
} from './model-score-rows.ts';

const coverage = { 'several rows': 0.3, 'unequal prompts': 0.2 };

const given =
  (
    kinds: readonly ModelKind[],
    options: { readonly minRows?: number; readonly temperatures?: boolean } = {},
  ) =>
  (world: World) =>
    modelBatch({
      tokens: world.hello.tokens,
      kinds: loadable('model_score', kinds, world),
      // A table of positions ends where packed rows that are counted on run over it.
      long: kinds === ROTARY,
      ...options,
    });

const base = {
  stage: 'model',
  level: 'must',
  ops: ['model_score'],
  mostCases: MODEL_CASES,
  labels: modelLabels,
} as const;

const offers =
  (capability: 'packed' | 'temperature'): Need =>
  ({ hello }) =>
    hello.ops.model_score?.[capability] === true
      ? undefined
      : `op \`model_score\` does not offer ${capability}`;

/** Compares the answer to this request with the reference model. */
async function equalsReference(
  subject: Subject,
  drawn: Drawn,
  change: { readonly packed?: boolean; readonly padding_side?: string } = {},
  where = '',
): Promise<Finding | undefined> {
  const used = handed(subject, drawn.kind, drawn.seed);
  const { logprobs } = await subject.ask('model_score', { ...scoreArgs(drawn, used), ...change });
  return tokenDifference({
    subject,
    drawn,
    noun: 'log-probability',
    kind: 'value',
    band: modelBand(subject, drawn, used),
    expected: expectedLogprobs(drawn, used),
    observed: logprobs,
    where,
    mistakes: scoreMistakes(subject, drawn, used) ?? [],
  });
}

/** The properties of one family of models, under ids that begin so. */
function scores(prefix: string, kinds: readonly ModelKind[], whose: string): readonly Property<Drawn>[] {
  const needs = [modelTokens, loads('model_score', kinds)];
  return [
    {
      ...base,
      id: `${prefix}logprobs-equal-the-reference`,
      title: `Log-probabilities of completions under ${whose} are those of the reference model with the same weights`,
      why: 'Padding that is counted or seen, a bias that is not loaded, a token that is scored instead of another: the loss goes down all the same, on another model than the one that generates.',
      catches: ['PAD-05', 'LP-01', 'LP-05', 'LP-16'],
      needs,
      given: given(kinds),
      coverage,
      check: (subject, drawn) => equalsReference(subject, drawn),
    },
    {
      ...base,
      id: `${prefix}padding-sides-agree`,
      title: `Rows under ${whose} score the same padded on the left and on the right`,
      why: 'Generation pads on the left and training on the right: where the two differ, the ratio of the first step is not 1.',
      catches: ['PAD-05', 'PAD-02'],
      needs: [
        ...needs,
        ({ hello }) =>
          hello.ops.model_score?.padding_side === undefined
            ? 'op `model_score` does not offer padding_side'
            : undefined,
      ],
      given: given(kinds, { minRows: 2 }),
      coverage,
      async check(subject, drawn) {
        for (const side of subject.hello.ops.model_score?.padding_side ?? []) {
          const where = ` (padded on the ${side})`;
          const finding = await equalsReference(subject, drawn, { padding_side: side }, where);
          if (finding !== undefined) return finding;
        }
        return undefined;
      },
    },
    {
      ...base,
      id: `${prefix}packed-equals-separate`,
      title: `Rows packed into one score under ${whose} as the reference model scores them apart`,
      why: 'Where packed rows see each other, or keep counting positions, every one but the first is scored as the continuation of another text.',
      catches: ['PCK-01', 'PCK-02'],
      needs: [...needs, offers('packed')],
      given: given(kinds, { minRows: 2 }),
      coverage,
      check: (subject, drawn) =>
        equalsReference(subject, drawn, { packed: true }, ', with all rows packed into one'),
    },
    {
      ...base,
      id: `${prefix}perturbing-one-row-moves-no-other`,
      title: `Another row in its place changes no score of the rows beside it, under ${whose}`,
      why: 'A leak from row to row is noise in every gradient, and no test of totals sees it.',
      catches: ['PCK-01', 'PAD-08'],
      needs,
      given: given(kinds, { minRows: 2 }),
      coverage,
      async check(subject, drawn) {
        if (drawn.prompts.length < 2) return discard('there is one row only');
        const used = handed(subject, drawn.kind, drawn.seed);
        const ways = subject.hello.ops.model_score?.packed === true ? [false, true] : [false];
        const band = modelBand(subject, drawn, used);
        for (const packed of ways) {
          const args = { ...scoreArgs(drawn, used), ...(packed ? { packed } : {}) };
          const before = await subject.ask('model_score', args);
          const prompts = drawn.prompts.map((ids, row) =>
            row === 0 ? ids.map((id) => otherId(subject, id, 1)) : ids,
          );
          const after = await subject.ask('model_score', { ...args, prompt_ids: prompts });
          const finding = tokenDifference({
            subject,
            drawn,
            noun: 'log-probability',
            kind: 'leak',
            band,
            expected: before.logprobs.map((row, b) => (b === 0 ? (after.logprobs[b] ?? []) : row)),
            observed: after.logprobs,
            against: 'it was',
            where: ` before row 0 had another prompt${packed ? ', all rows packed into one' : ''}`,
          });
          if (finding !== undefined) return finding;
        }
        return undefined;
      },
    },
    ...relations<'model_score', Drawn>({
      op: 'model_score',
      stage: 'model',
      prefix,
      noun: `The score under ${whose}`,
      terms: RELATED_TERMS,
      mostCases: MODEL_CASES,
      needs,
      given: given(kinds, { minRows: 2 }),
      labels: modelLabels,
      coverage,
      args: (drawn, subject) => scoreArgs(drawn, handed(subject, drawn.kind, drawn.seed)),
      ...(kinds === ROTARY ? { allBut: [] } : {}),
      relations: { 'batch-mates': { catches: ['PAD-05', 'PCK-01', 'NUM-03'] }, stacked: {} },
    }),
  ];
}

/** Roundings that two batches of one model may differ by; see the tolerance of models. */
const RELATED_TERMS = 1_024;

export const modelProperties: readonly Property<Drawn>[] = [
  ...scores('model/', ROTARY, 'a rotary model'),
  ...scores('model/learned-positions-', LEARNED, 'a model with learned positions'),
  {
    ...base,
    id: 'model/temperature-divides-the-logits',
    title: 'Completions are scored at the temperature that was asked for, by the whole model',
    why: 'Sampled at one temperature and scored at another, the ratio is wrong from the first step.',
    catches: ['LP-05', 'LP-06'],
    needs: [
      modelTokens,
      loads('model_score', ROTARY),
      offers('temperature'),
      (world) =>
        world.semantics.temperature_in_scoring === false
          ? 'semantics.temperature_in_scoring is false: scores are at temperature 1'
          : undefined,
    ],
    given: given(ROTARY, { temperatures: true }),
    coverage: { 'temperature other than 1': 0.3 },
    check: (subject, drawn) => equalsReference(subject, drawn),
  },
];

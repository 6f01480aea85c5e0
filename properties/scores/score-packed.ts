// Scoring all rows packed into one: a way to compute, which changes no number.
import {
  type Batch,
  bandOf,
  batch,
  batchLabels,
  MODEL_TERMS,
  modelTokens,
  numberFinding,
  type Property,
  relations,
  show,
  type World,
} from '../../src/index.ts';

const needs = [
  modelTokens,
  (world: World): string | undefined =>
    world.hello.ops.score?.packed === true ? undefined : 'op `score` does not offer packed',
];
const given = (world: World) => batch({ tokens: world.hello.tokens, minRows: 2 });
const coverage = { 'unequal prompts': 0.2, 'unequal completions': 0.2 };
const equalsSeparate: Property<Batch> = {
  id: 'score/packed-equals-separate',
  title: 'Rows packed into one score as they do apart',
  stage: 'score',
  level: 'must',
  why: 'Where packed rows see each other, or keep counting positions, every one but the first is scored as the continuation of another text.',
  catches: ['PCK-01', 'PCK-02'],
  ops: ['score'],
  needs,
  given,
  labels: batchLabels,
  coverage,
  async check(subject, drawn) {
    const args = { prompt_ids: drawn.prompts, completion_ids: drawn.completions };
    const { logprobs: apart } = await subject.ask('score', args);
    const { logprobs: packed } = await subject.ask('score', { ...args, packed: true });
    const band = bandOf(subject, MODEL_TERMS);
    const pairs = apart.flatMap((values, row) =>
      values.map((expected, at) => ({
        where: `row ${row}, completion token ${at}`,
        expected,
        observed: packed[row]?.[at],
      })),
    );
    const wrong = pairs.filter(({ expected, observed }) => !band.close(observed, expected));
    const [first] = wrong;
    if (first === undefined) return undefined;
    return numberFinding({
      kind: 'packed',
      sentence: `The log-probability at ${first.where} is ${show(first.expected)}, but ${show(first.observed)} with all rows packed into one.`,
      band,
      pairs: wrong,
    });
  },
};

export const packedScoreProperties: readonly Property<Batch>[] = [
  equalsSeparate,
  ...relations({
    op: 'score',
    stage: 'score',
    prefix: 'score/packed-',
    noun: 'A packed score',
    given,
    labels: batchLabels,
    coverage,
    needs,
    args: ({ prompts, completions }: Batch) => ({
      prompt_ids: prompts,
      completion_ids: completions,
      packed: true,
    }),
    relations: { 'batch-mates': { catches: ['PCK-01', 'PCK-02'] }, stacked: { catches: ['PCK-01'] } },
  }),
];

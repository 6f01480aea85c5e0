// One step of plain gradient descent on a checkpoint: what was saved must have moved as finite differences of the
// reference model's log-probabilities say, from completion tokens and from no others.
import {
  type Args,
  bandFrom,
  discard,
  type Finding,
  type Handed,
  handed,
  LEARNED,
  loadable,
  type ModelKind,
  many,
  modelTolerance,
  numberFinding,
  type Ok,
  type Property,
  type Ragged,
  ROTARY,
  type Route,
  type StepBatch,
  type Subject,
  show,
  stepBatch,
  stepLabels,
  type World,
} from '../../../src/index.ts';
import { expectedLogprobs } from '../model-score-rows.ts';
import { judged, STEP_CASES, savedBy, stepNeeds } from './case.ts';
import { type StepLoss, stepLosses, stepValues } from './losses.ts';
import { type Moved, movement } from './movement.ts';

type Drawn = StepBatch<ModelKind>;

const routesOf = ({ hello }: World): readonly Route[] => hello.ops.train_step?.route ?? ['sft', 'rl'];

const given = (kinds: readonly ModelKind[]) => (world: World) =>
  stepBatch({
    tokens: world.hello.tokens,
    kinds: loadable('train_step', kinds, world),
    routes: routesOf(world),
  });
const base = {
  stage: 'model',
  level: 'must',
  ops: ['train_step'],
  mostCases: STEP_CASES,
  // Each step saves to a folder of its own.
  drawnAlone: true,
  labels: stepLabels,
  coverage: { 'several rows': 0.3, 'unequal prompts': 0.2 },
} as const;

interface Step extends Moved {
  readonly ok: Ok<'train_step'>;
}

async function stepped(subject: Subject, drawn: Drawn): Promise<Step | Finding> {
  const used = handed(subject, drawn.kind, drawn.seed);
  const args: Args<'train_step'> = {
    model_path: used.path,
    prompt_ids: drawn.prompts,
    completion_ids: drawn.completions,
    ...(drawn.route === 'sft' ? {} : { advantages: drawn.advantages }),
    learning_rate: drawn.learningRate,
    saved_path: subject.models.saving(),
  };
  const ok = await subject.ask('train_step', args);
  const saved = savedBy(subject, args.saved_path, used);
  return 'sentence' in saved ? saved : { ...saved, ok };
}

const choices = (subject: Subject, drawn: Drawn, used: Handed): StepLoss[] =>
  stepLosses(drawn, subject.semantics, subject.hello.tokens?.eos_token_ids ?? [], () => ({
    logprobs: expectedLogprobs(drawn, used),
    off: toleranceOf(subject, drawn, used).absolute,
  }));

/** Of a log-probability. */
const toleranceOf = (subject: Subject, drawn: Drawn, { model: { config } }: Handed) =>
  modelTolerance(subject.hello.dtype ?? 'float32', {
    layers: config.layers,
    width: config.width,
    vocabulary: config.vocabSize,
    deviation: LARGE,
    length: drawn.completions.flat().length,
    temperature: 1,
  });

const follows = (prefix: string, kinds: readonly ModelKind[], whose: string): Property<Drawn> => ({
  ...base,
  id: `${prefix}step-follows-the-gradient`,
  title: `One step of plain gradient descent moves the parameters of ${whose} as the loss on its completions says`,
  why: 'A loss may be right in total and come from other tokens: only the weights that moved show what is trained.',
  catches: ['MSK-01', 'LOSS-11', 'PAD-05'],
  needs: stepNeeds('train_step', kinds),
  given: given(kinds),
  check: (subject, drawn) =>
    judged(stepped(subject, drawn), (step) =>
      movement(subject, drawn, step, choices(subject, drawn, step.used)),
    ),
});

export const modelStepProperties: readonly Property<Drawn>[] = [
  follows('model/', ROTARY, 'a rotary model'),
  follows('model/learned-positions-', LEARNED, 'a model with learned positions'),
  {
    ...base,
    id: 'model/step-loss-equals-the-reference',
    title: 'The loss that a step reports is that of its completions under the reference model',
    why: 'A loss that is not of what is trained hides every other mistake.',
    catches: ['LOSS-09', 'LOSS-11'],
    needs: stepNeeds('train_step', ROTARY),
    given: given(ROTARY),
    check: (subject, drawn) =>
      judged(stepped(subject, drawn), ({ used, ok }) => {
        const logprobs = expectedLogprobs(drawn, used);
        const known = choices(subject, drawn, used);
        const tokens = drawn.completions.flat().length;
        const band = bandFrom(toleranceOf(subject, drawn, used));
        const expected = known
          .filter(({ scaled }) => scaled === undefined)
          .flatMap((loss) => {
            const total = Math.max(
              1,
              loss.weights.flat().reduce((sum, weight) => sum + Math.abs(weight), 0),
            );
            return stepValues(drawn, loss, logprobs).map((value) => ({ name: loss.name, value, total }));
          });
        if (expected.some(({ value, total }) => Math.abs(ok.loss - value) <= total * band.absolute))
          return undefined;
        // A constant that nobody declares may be any.
        if (known.some(({ scaled }) => scaled))
          return discard(
            'its loss is no known mean, and the constant of a sum is not declared (loss_norm)',
            'trainer',
          );
        const [first] = expected;
        return numberFinding({
          kind: 'value',
          sentence: `The loss of ${many(tokens, 'completion token')} is ${show(ok.loss)}; the reference model gives ${show(first?.value)} (${first?.name}).`,
          band,
          pairs: [{ where: 'loss', expected: first?.value, observed: ok.loss }],
        });
      }),
  },
  {
    ...base,
    id: 'model/step-weights-equal-the-reference',
    title: 'The weights that a step reports are those of its loss, on completion tokens',
    why: 'Divided by the padded width, or by the rows, long and short completions count otherwise than was meant.',
    catches: ['LOSS-11'],
    needs: stepNeeds('train_step', ROTARY),
    given: given(ROTARY),
    check: (subject, drawn) =>
      judged(stepped(subject, drawn), ({ used, ok: { loss_weights: observed } }) => {
        if (observed === undefined) return discard('the answer has no loss_weights', 'trainer');
        const known = choices(subject, drawn, used);
        const off = (loss: StepLoss): [number, number] | undefined => {
          const scale = loss.scaled === undefined ? 1 : scaleOf(loss.weights, observed);
          for (const [b, row] of loss.weights.entries())
            for (const [t, weight] of row.entries())
              if (
                !(
                  Math.abs((observed[b]?.[t] ?? Number.NaN) - scale * weight) <=
                  WEIGHT_BAND * (1 + Math.abs(weight))
                )
              )
                return [b, t];
          return undefined;
        };
        const [first] = known;
        const place = first === undefined ? undefined : off(first);
        if (first === undefined || place === undefined || known.some((loss) => off(loss) === undefined))
          return undefined;
        const [b, t] = place;
        return {
          kind: 'weight',
          sentence: `Completion token ${t} of row ${b} has the loss weight ${show(observed[b]?.[t])}; ${first.name} gives ${show(first.weights[b]?.[t])}.`,
        };
      }),
  },
];

/** Standard deviation of the weights of the models handed over, as in their tolerance. */
const LARGE = 0.6;
/** Weights are quotients of small numbers: rounding to float32, and no more. */
const WEIGHT_BAND = 1e-5;

function scaleOf(weights: Ragged, observed: Ragged): number {
  for (const [b, row] of weights.entries())
    for (const [t, weight] of row.entries()) if (weight !== 0) return (observed[b]?.[t] ?? 0) / weight;
  return 1;
}

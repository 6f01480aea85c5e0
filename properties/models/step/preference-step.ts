// One step of plain gradient descent on preference pairs, with a policy and a frozen reference from two checkpoints: the
// loss is the declared objective of the two reference models, and the parameters move as it says.
import {
  bandFrom,
  completionLogprobs,
  describePreference,
  type Finding,
  type Handed,
  handed,
  LARGE_DEVIATION,
  LEARNED,
  loadable,
  type ModelKind,
  many,
  marginOf,
  modelTolerance,
  numberFinding,
  type PairNumbers,
  type PairStep,
  type PreferenceSettings,
  type Property,
  pairBatchLabels,
  pairStep,
  preferenceLossAt,
  preferenceSlopeAt,
  preferenceVariants,
  ROTARY,
  referenceSeed,
  type Subject,
  show,
  type World,
} from '../../../src/index.ts';
import { fullyDeclared, mean } from '../../losses/pairs/preference-loss.ts';
import { judged, STEP_CASES, savedBy, stepNeeds } from './case.ts';
import type { StepLoss } from './losses.ts';
import { type Moved, movement, type Rows } from './movement.ts';

type Drawn = PairStep<ModelKind>;

const base = {
  stage: 'model',
  level: 'must',
  ops: ['preference_step'],
  mostCases: STEP_CASES,
  // Each step saves to a folder of its own.
  drawnAlone: true,
  labels: pairBatchLabels,
  coverage: { 'several rows': 0.3, 'halves of unequal length': 0.3 },
} as const;

const given = (kinds: readonly ModelKind[]) => (world: World) =>
  pairStep({ tokens: world.hello.tokens, kinds: loadable('preference_step', kinds, world) });
const needs = (kinds: readonly ModelKind[]) => [...stepNeeds('preference_step', kinds), fullyDeclared];

/** What the trainer was given and what it made of it. */
interface Step extends Moved {
  readonly loss: number;
  /** All chosen rows, then all rejected ones. */
  readonly rows: Rows;
  readonly pairs: readonly PairNumbers[];
  /** How far a log-probability may be off, in either model. */
  readonly off: number;
}

async function stepped(subject: Subject, drawn: Drawn): Promise<Step | Finding> {
  const used = handed(subject, drawn.kind, drawn.seed);
  const reference = handed(subject, drawn.kind, referenceSeed(drawn));
  const saved_path = subject.models.saving();
  const { loss } = await subject.ask('preference_step', {
    model_path: used.path,
    reference_path: reference.path,
    prompt_ids: drawn.prompts,
    chosen_ids: drawn.chosen,
    rejected_ids: drawn.rejected,
    learning_rate: drawn.learningRate,
    saved_path,
  });
  const saved = savedBy(subject, saved_path, used);
  if ('sentence' in saved) return saved;
  const rows = rowsOf(drawn);
  return { ...saved, loss, rows, pairs: pairsOf(rows, used, reference), off: offOf(subject, rows, used) };
}

function rowsOf({ prompts, chosen, rejected, ...rest }: Drawn): Rows {
  return {
    ...rest,
    prompts: [...prompts, ...prompts],
    completions: [...chosen, ...rejected],
    rowName: (row) =>
      `the ${row < chosen.length ? 'chosen' : 'rejected'} completion of pair ${row % chosen.length}`,
  };
}

function pairsOf(rows: Rows, used: Handed, reference: Handed): PairNumbers[] {
  const [policy, frozen] = [used, reference].map(({ model }) =>
    completionLogprobs(model, rows.prompts, rows.completions, 1),
  );
  const count = rows.completions.length / 2;
  const of = (values: readonly (readonly number[])[] | undefined, row: number) => values?.[row] ?? [];
  return Array.from({ length: count }, (_, row) => ({
    chosen: of(policy, row),
    rejected: of(policy, count + row),
    refChosen: of(frozen, row),
    refRejected: of(frozen, count + row),
  }));
}

function offOf({ hello }: Subject, { prompts, completions }: Rows, { model: { config } }: Handed): number {
  return modelTolerance(hello.dtype ?? 'float32', {
    layers: config.layers,
    width: config.width,
    vocabulary: config.vocabSize,
    deviation: LARGE_DEVIATION,
    length: Math.max(...prompts.map((prompt, b) => prompt.length + (completions[b]?.length ?? 0))),
    temperature: 1,
  }).absolute;
}

/** The margin of a pair, and what it may be off by: every log-probability of it may. */
function marginsOf({ pairs, off }: Step, settings: PreferenceSettings) {
  return pairs.map((pair) => {
    const sizes = [pair.chosen, pair.rejected].map(({ length }) => (settings.length === 'sum' ? length : 1));
    return { margin: marginOf(pair, settings), blur: 2 * off * sizes.reduce((a, b) => a + b) };
  });
}

/** At a margin, and as far off it as it may be. */
const around = ({ margin, blur }: { readonly margin: number; readonly blur: number }) => [
  margin,
  margin - blur,
  margin + blur,
];

/** dL/dlogprob of every completion token, of a loss that is the mean over pairs, or their sum. */
function lossOf(step: Step, settings: PreferenceSettings, count: number): StepLoss {
  const slopes = marginsOf(step, settings).map((each) => {
    const [slope = Number.NaN, ...others] = around(each).map((at) => preferenceSlopeAt(at, settings));
    return { slope, unsure: Math.max(...others.map((other) => Math.abs(other - slope))) };
  });
  const spread = (of: (pair: (typeof slopes)[number], sign: number) => number) =>
    step.rows.completions.map((ids, row) => {
      const pair = slopes[row % slopes.length];
      const share = count * (settings.length === 'sum' ? 1 : ids.length);
      const weight = pair === undefined ? Number.NaN : of(pair, row < slopes.length ? 1 : -1) / share;
      return ids.map(() => weight);
    });
  return {
    name: `${describePreference(settings)}${count === 1 ? '' : ', the mean over pairs'}`,
    weights: spread(({ slope }, sign) => sign * slope),
    unsure: spread(({ unsure }) => unsure),
  };
}

/** A batch counts by the mean of its pairs, or by their sum. */
const countsOf = ({ pairs }: Step): number[] => [...new Set([pairs.length, 1])];

const follows = (prefix: string, kinds: readonly ModelKind[], whose: string): Property<Drawn> => ({
  ...base,
  id: `${prefix}preference-step-follows-the-gradient`,
  title: `One step on preference pairs moves the parameters of ${whose} as the objective says, under a frozen reference`,
  why: 'A reference that is the policy, a half without gradient, or sums where means were meant: the margins grow all the same, by other tokens.',
  catches: ['LP-15', 'LOSS-13', 'PAD-05'],
  needs: needs(kinds),
  given: given(kinds),
  check: (subject, drawn) =>
    judged(stepped(subject, drawn), (step) => {
      const losses = preferenceVariants(subject.semantics).flatMap((settings) =>
        countsOf(step).map((count) => lossOf(step, settings, count)),
      );
      return movement(subject, step.rows, step, losses);
    }),
});

export const preferenceStepProperties: readonly Property<Drawn>[] = [
  follows('model/', ROTARY, 'a rotary model'),
  follows('model/learned-positions-', LEARNED, 'a model with learned positions'),
  {
    ...base,
    id: 'model/preference-loss-equals-the-reference',
    title: 'The loss that a step on pairs reports is the declared objective under the two reference models',
    why: 'With a reference that was never loaded the loss begins at log 2 and falls, as it should.',
    catches: ['LP-15', 'LOSS-13'],
    needs: needs(ROTARY),
    given: given(ROTARY),
    check: (subject, drawn) =>
      judged(stepped(subject, drawn), (step) => {
        const expected = preferenceVariants(subject.semantics).flatMap((settings) => {
          const each = marginsOf(step, settings).map((pair) =>
            around(pair).map((at) => preferenceLossAt(at, settings)),
          );
          const [value, least, most] = [
            mean(each.map(([at = Number.NaN]) => at)),
            mean(each.map((values) => Math.min(...values))),
            mean(each.map((values) => Math.max(...values))),
          ] as const;
          return countsOf(step).map((count) => {
            const times = step.pairs.length / count;
            return { settings, value: times * value, least: times * least, most: times * most };
          });
        });
        const [first] = expected;
        if (first === undefined) return undefined;
        const rounding = (value: number): number => FINISHED * (1 + Math.abs(value));
        if (
          expected.some(
            ({ value, least, most }) =>
              step.loss >= least - rounding(value) && step.loss <= most + rounding(value),
          )
        )
          return undefined;
        const absolute = first.most - first.least + rounding(first.value);
        return numberFinding({
          kind: 'value',
          sentence: `The loss of ${many(step.pairs.length, 'pair')} is ${show(step.loss)}; ${describePreference(first.settings)} gives ${show(first.value)} of the log-probabilities under the two reference models.`,
          band: bandFrom({
            absolute,
            relative: 0,
            reason: `every log-probability may be off by ${show(step.off)}, the loss by ${show(absolute)}`,
          }),
          pairs: [{ where: 'loss', expected: first.value, observed: step.loss }],
          note: 'A sum over pairs is accepted as well as their mean.',
        });
      }),
  },
];

/** What is computed of the margins is a handful of roundings in float32. */
const FINISHED = 1e-6;

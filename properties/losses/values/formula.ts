// The critic's loss against the formula that the trainer declares, or that was measured.
import {
  type Args,
  answersOf,
  atValueCorner,
  type Band,
  bandOf,
  causeIn,
  causeOf,
  causeWords,
  gapsBehind,
  itemsOf,
  knownFormula,
  many,
  masksOf,
  neededOf,
  numberFinding,
  type Ok,
  type Property,
  richest,
  type Subject,
  show,
  underGaps,
  type ValueCase,
  type ValueLoss,
  type ValueLossInput,
  type ValueLossSettings,
  valueCase,
  valueLabels,
  valueLoss,
  valueLossMistakes,
  valueLossVariants,
} from '../../../src/index.ts';
import { base, coverage, strips, valueArgs } from './cases.ts';

const inputOf = (args: Args<'value_loss'>): ValueLossInput => ({ ...args, mask: args.completion_mask });

/** Of two squared errors, of which rounding may decide which is the larger. */
const ROUNDINGS = 2;

interface Fit {
  readonly expected: ValueLoss;
  readonly wrongLoss: boolean;
  /** Row and column of each gradient that is another; none where none is answered. */
  readonly wrongWeights: readonly (readonly [number, number])[];
}

const holds = ({ wrongLoss, wrongWeights }: Fit): boolean => !wrongLoss && wrongWeights.length === 0;

/** At a corner of the clip any slope is right. */
function fitOf(
  input: ValueLossInput,
  clip: number | null,
  observed: Ok<'value_loss'>,
  band: Band,
  expected: ValueLoss,
): Fit {
  const { loss, loss_weights: weights } = observed;
  const wrongWeights = expected.weights.flatMap((row, r) =>
    row.flatMap((want, c) => {
      if (weights === undefined || band.close(weights[r]?.[c], want)) return [];
      return atValueCorner(input, clip, [r, c], ROUNDINGS * band.relative) ? [] : [[r, c] as const];
    }),
  );
  return { expected, wrongLoss: !band.close(loss, expected.loss), wrongWeights };
}

const equals: Property<ValueCase> = {
  ...base,
  id: 'value-loss/equals-the-reference',
  title:
    "The critic's loss and its gradient are the squared errors of its values, clipped and averaged as declared",
  why: 'A critic that is pulled to the wrong targets, or held where it should move, gives advantages that say nothing; its loss falls all the same.',
  catches: ['VAL-09', 'VAL-10', 'VAL-11', 'LOSS-03', 'LOSS-04', 'LOSS-08', 'LOSS-11', 'MSK-06'],
  settles: itemsOf('value_loss'),
  needs: [knownFormula('value_loss')],
  given: () => valueCase({ gaps: true }),
  coverage: {
    ...coverage,
    gap: 0.15,
    'beyond the clip, towards its return': 0.3,
    'beyond the clip, away from its return': 0.3,
  },
  async check(subject, drawn) {
    const args = valueArgs(drawn);
    const input = inputOf(args);
    const band = bandOf(subject, args.completion_mask.flat().length);
    const observed = await subject.ask('value_loss', args);
    const variants = valueLossVariants(subject.semantics);
    const fits = variants.map((settings) =>
      fitOf(input, settings.clip, observed, band, valueLoss(input, settings)),
    );
    if (fits.some(holds)) return undefined;
    const [closest] = [...fits].sort((a, b) => a.wrongWeights.length - b.wrongWeights.length);
    if (closest === undefined) return undefined;
    const cause = await explained(subject, variants);
    const answers = cause?.proven === true ? {} : answersOf(subject, 'value_loss', neededOf('value_loss'));
    const { expected, wrongLoss, wrongWeights } = closest;
    const [first] = wrongWeights;
    if (wrongLoss || first === undefined)
      return numberFinding({
        kind: 'loss',
        sentence: `The critic's loss over ${many(expected.tokens, 'token')} is ${show(observed.loss)}; the reference gives ${show(expected.loss)}.${causeWords(cause)}`,
        band,
        pairs: [{ where: 'loss', expected: expected.loss, observed: observed.loss }],
        ...answers,
      });
    const [row, column] = first;
    return numberFinding({
      kind: 'weight',
      sentence: `The gradient of the value of token ${column} of row ${row} is ${show(observed.loss_weights?.[row]?.[column])}; the reference gives ${show(expected.weights[row]?.[column])}. The loss itself agrees.${causeWords(cause)}`,
      band,
      pairs: wrongWeights.map(([r, c]) => ({
        where: `row ${r}, token ${c}`,
        expected: expected.weights[r]?.[c],
        observed: observed.loss_weights?.[r]?.[c],
      })),
      strips: strips(
        subject,
        drawn,
        row,
        wrongWeights.flatMap(([r, c]) => (r === row ? [c] : [])),
        observed,
      ),
      ...answers,
    });
  },
};

/** Some values have moved towards their returns and some away, so that no clip is taken for another, or for none. */
const tellsClips = (drawn: ValueCase): boolean =>
  valueLabels(drawn).filter((label) => label.startsWith('beyond the clip')).length === 2;

/** A known mistake that explains loss and gradient of a rich case. */
const explained = (subject: Subject, variants: readonly ValueLossSettings[]) =>
  causeIn(async () => {
    const rich = richest(masksOf(subject, valueCase({ gaps: true }).filter(tellsClips), gapsBehind));
    if (rich === undefined) return undefined;
    const args = valueArgs(rich);
    const input = inputOf(args);
    const band = bandOf(subject, args.completion_mask.flat().length);
    const observed = await subject.ask('value_loss', args);
    const compared = ({ clip }: ValueLossSettings, answer: ValueLoss): Fit =>
      fitOf(input, clip, observed, band, answer);
    return causeOf(
      variants.flatMap((settings) =>
        valueLossMistakes(input, settings, args.micro_batches).map((mistake) => ({
          ...mistake,
          answer: compared(settings, mistake.answer),
        })),
      ),
      holds,
      variants.map((settings) => compared(settings, valueLoss(input, settings))),
    );
  });

export const valueLossFormula: readonly Property<ValueCase>[] = underGaps(gapsBehind, [equals]);

// The loss of labelled completions against its formula, with the numbers that the trainer declares, or that were measured.
import {
  answersOf,
  bandOf,
  causeIn,
  causeOf,
  causeWords,
  describeUnpaired,
  itemsOf,
  type Labelled,
  labelledRowLabels,
  labelledRows,
  many,
  numberFinding,
  type Ok,
  type Property,
  richest,
  type Subject,
  show,
  type UnpairedLoss,
  type UnpairedSettings,
  unpairedLoss,
  unpairedLossMistakes,
  unpairedSettings,
} from '../../../src/index.ts';
import { argsOf, base, coverage, KNOWN, type Request, slackOf } from './cases.ts';

const ITEMS = itemsOf('unpaired_preference_loss');

/** Numbers that do not fit. */
type Wrong = readonly {
  readonly where: string;
  readonly expected: number | undefined;
  readonly observed: number | undefined;
}[];

/** All that is answered is held to. */
function wrongIn(
  subject: Subject,
  args: Request,
  settings: UnpairedSettings,
  observed: Ok<'unpaired_preference_loss'>,
  expected: UnpairedLoss,
): Wrong {
  const rows = args.logprobs.length;
  const band = bandOf(subject, rows);
  const slack = slackOf(subject, args, settings);
  const { beta, desirableWeight, undesirableWeight } = settings;
  // A weight is a product with a difference, 1 - sigmoid, in it.
  const share = (beta * Math.max(desirableWeight, undesirableWeight)) / (4 * rows);
  const off = (
    where: string,
    value: number | undefined,
    want: number | undefined,
    spare: number,
    size = 0,
  ): Wrong => {
    if (value === undefined) return [];
    const allowed = band.allowed(Math.max(Math.abs(want ?? Number.NaN), size)) + spare;
    return Math.abs(value - (want ?? Number.NaN)) <= allowed
      ? []
      : [{ where, expected: want, observed: value }];
  };
  const tokens = (name: 'weights' | 'kl_weights', what: string): Wrong =>
    (observed[name] ?? []).flatMap((row, b) =>
      row.flatMap((value, t) =>
        off(
          `dL/d ${what} of token ${t} of row ${b}`,
          value,
          expected[name][b]?.[t],
          (slack * beta) / rows,
          share,
        ),
      ),
    );
  const size = Math.max(desirableWeight, undesirableWeight);
  return [
    ...off('the loss', observed.loss, expected.loss, slack, size),
    ...off('the KL', observed.kl, expected.kl, (4 * slack) / (beta * size), 1),
    ...(observed.losses ?? []).flatMap((value, b) =>
      off(`the loss of row ${b}`, value, expected.losses[b], slack, size),
    ),
    ...tokens('weights', 'logprob'),
    ...tokens('kl_weights', 'kl_logprob'),
  ];
}

const equals: Property<Labelled> = {
  ...base,
  id: 'unpaired_preference_loss/equals-the-formula',
  title:
    'The loss of labelled completions, its gradient and its KL are those of the declared objective, the mean over rows',
  why: 'The loss is bounded and looks alike whatever is wrong in it. A wrong label, weight or KL moves the point from which a completion counts as good, and no curve shows it.',
  catches: ['LOSS-03', 'LOSS-13', 'KTO-01'],
  settles: ITEMS,
  needs: KNOWN,
  given: () => labelledRows(),
  coverage,
  async check(subject, drawn) {
    const settings = unpairedSettings(subject.semantics);
    if (settings === undefined) return undefined;
    const args = argsOf(drawn);
    const observed = await subject.ask('unpaired_preference_loss', args);
    const wrong = wrongIn(subject, args, settings, observed, unpairedLoss(args, settings));
    const [first] = wrong;
    if (first === undefined) return undefined;
    const cause = await explained(subject, settings);
    return numberFinding({
      kind: cause?.words ?? (first.where === 'the loss' ? 'loss' : first.where === 'the KL' ? 'KL' : 'row'),
      sentence: `For ${many(drawn.rows.length, 'row')}, ${first.where} is ${show(first.observed)}; ${describeUnpaired(settings)} gives ${show(first.expected)}.${causeWords(cause)}`,
      band: bandOf(subject, drawn.rows.length),
      pairs: wrong,
      ...(cause?.proven === true ? {} : answersOf(subject, 'unpaired_preference_loss', ITEMS)),
    });
  },
};

/** A known mistake that explains each number of a rich case, in which no KL is clamped. */
const explained = (subject: Subject, settings: UnpairedSettings) =>
  causeIn(async () => {
    for (const kl of ['a KL above 0', 'a KL below 0']) {
      const rich = richest(
        labelledRows({ minRows: 2 }).filter((drawn) => {
          const labels = labelledRowLabels(drawn);
          return labels.includes('both kinds of rows') && labels.includes(kl);
        }),
      );
      if (rich === undefined) continue;
      const args = argsOf(rich);
      const observed = await subject.ask('unpaired_preference_loss', args);
      const cause = causeOf(
        unpairedLossMistakes(args, settings),
        (answer) => wrongIn(subject, args, settings, observed, answer).length === 0,
        [unpairedLoss(args, settings)],
      );
      if (cause !== undefined) return cause;
    }
    return undefined;
  });

export const unpairedLossFormula: readonly Property<Labelled>[] = [equals];

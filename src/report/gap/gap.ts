// The gap between the engine's and the trainer's log-probabilities on a terminal: the measures, where it is, the causes
// and the verdict.
import { BF16_RMS, FLOAT32_RMS, MOST_NOISE_RMS, type Named, type Ranked } from '../../gap/analyse.ts';
import type { Gap } from '../../gap/gap.ts';
import { sidesOf } from '../../gap/model.ts';
import type { Paint } from '../text/paint.ts';
import { plural } from '../text/plural.ts';
import { harmless, pad, wrap } from '../text/visible.ts';
import { type Judged, scoringSentence, sidesSentence, sideText } from './model.ts';
import { percent, short } from './numbers.ts';
import { biasLines, type Line, measureLines, trainingSentence } from './training.ts';

export interface GapPrint {
  readonly width: number;
  readonly paint: Paint;
  readonly name: string;
}

/** @param judged each side beside a model, where there is one. */
export function gapLines(gap: Gap, { width, paint, name }: GapPrint, judged?: Judged): string[] {
  const { comparison, names, analysis } = gap;
  const head = [
    name,
    `${plural(comparison.rows, 'row')}, ${plural(comparison.tokens, 'token')}`,
    `sampling ${names.sampling}, trainer ${names.trainer}`,
  ].join(' · ');
  return [
    ...wrap(harmless(head), width).map(paint.bold),
    '',
    'Gap of a token: log-probability of the trainer less that of the engine, in nats',
    ...measures(gap).flatMap(([what, value]) => rowOf(what, value, width)),
    '',
    'In training, with weights w = p(trainer) / p(engine) [healthy range]',
    ...[...measureLines(gap), ...biasLines(gap)].flatMap((line) => trainingRow(line, width, paint)),
    '',
    'Mean |gap|',
    ...gap.breakdowns.flatMap(({ by, parts }) =>
      rowOf(`by ${by}`, parts.map((part) => `${part.name}: ${short(part.meanAbs)}`).join(' · '), width),
    ),
    '',
    ...analysis.named.flatMap((named) => causeLines(named, width, paint)),
    ...(judged === undefined ? [] : modelLines(judged, gap, { width, paint })),
    ...wrap(verdictOf(gap), width).map(paint.bold),
    ...(judged === undefined ? [] : wrap(sidesSentence(judged), width).map(paint.bold)),
    ...wrap(trainingSentence(gap), width),
  ];
}

/** The answer in a sentence or two. */
export function verdictOf({
  comparison: { rms },
  analysis: { verdict, named, leftRms },
  missing,
  roundingRms,
}: Gap): string {
  if (verdict === 'noise' && roundingRms !== undefined)
    return `✓ Noise: an RMS gap of ${short(rms)} is the model's own rounding in its dtype (${short(roundingRms)}), and no cause predicts any of it.`;
  if (verdict === 'noise') return `✓ Noise: ${sizeOf(rms)}, and no cause predicts any of it.`;
  if (verdict === 'unexplained' && missing !== undefined)
    return `? No verdict: ${sizeOf(rms)}, and no cause predicts it. The ${missing === 'trainer' ? 'engine' : 'trainer'} does not compute what the model folder computes: other weights (an adapter that was not sent, an old checkpoint), another prompt, dropout, other positions or other kernels.`;
  if (verdict === 'unexplained')
    return `? No verdict: ${sizeOf(rms)}, and no cause that two recorded sides can show predicts it. Other weights (an adapter that was not sent, an old checkpoint), dropout, other positions and other kernels look alike here: compare both sides with the weights (--model).`;
  const causes = named.map(({ id, share }) => `${id} explains ${percent(share)} of the gap`).join(', ');
  const partial = leftRms > BF16_RMS && named.some(({ fit }) => fit.isPartial === true);
  const may = partial
    ? ' It may have the same cause, which depends on tokens that were not sampled and are in no file.'
    : '';
  return `✗ ${causes}. The rest: ${sizeOf(leftRms)}.${may}`;
}

// --- helpers ---

const INDENT = '  ';
const NAME_WIDTH = 'by age of the weights'.length + INDENT.length;

function measures({ comparison: c }: Gap): readonly (readonly [string, string])[] {
  return [
    [
      'mean |gap|, RMS',
      `${short(c.meanAbs)}, ${short(c.rms)} (rounding: ${FLOAT32_RMS} in float32, ${BF16_RMS} in bf16)`,
    ],
    ['mean |p - p|', short(c.probabilityGap)],
  ];
}

/** Of one side alone, the causes are those of the gap. */
function modelLines(
  judged: Judged,
  { missing }: Gap,
  { width, paint }: Pick<GapPrint, 'width' | 'paint'>,
): string[] {
  const sides = sidesOf(judged.against);
  const causes = sides.flatMap(({ name, side }) =>
    (missing === undefined ? side.analysis.named : []).flatMap((named) => [
      paint.bold(paint.orange(`✗ ${name}: ${named.id}  ${percent(named.share)} of its gap to the model`)),
      ...wrap(named.fit.sentence, width - INDENT.length).map((line) => INDENT + line),
      '',
    ]),
  );
  return [
    missing === undefined ? 'Each side against the model' : `The ${sides[0]?.name} against the model`,
    ...wrap(harmless(scoringSentence(judged)), width - INDENT.length).map((line) => INDENT + line),
    ...sides.flatMap(({ name, side }) => rowOf(name, sideText(side), width)),
    '',
    ...causes,
  ];
}

function trainingRow(
  { what, value, healthy, isOutside = false }: Line,
  width: number,
  paint: Paint,
): string[] {
  const range = healthy === undefined ? '' : ` [${healthy}]`;
  const lines = rowOf(what, `${isOutside ? '! ' : ''}${value}${range}`, width);
  return isOutside ? lines.map(paint.orange) : lines;
}

function rowOf(what: string, value: string, width: number): string[] {
  const [first = '', ...more] = wrap(value, width - INDENT.length - NAME_WIDTH);
  return [
    INDENT + pad(what, NAME_WIDTH) + first,
    ...more.map((line) => INDENT + ' '.repeat(NAME_WIDTH) + line),
  ];
}

function causeLines({ id, share, fit, second }: Named, width: number, paint: Paint): string[] {
  const below = (text: string): string[] => wrap(text, width - INDENT.length).map((line) => INDENT + line);
  return [
    paint.bold(paint.orange(`✗ ${id}  ${percent(share)} of the gap`)),
    ...below(fit.sentence),
    ...below(`To decide: ${fit.experiment}.`),
    ...(second === undefined ? [] : below(secondOf(second)).map(paint.dim)),
    '',
  ];
}

const secondOf = ({ id, score }: Ranked): string =>
  `Next best: ${id}, ${percent(Math.max(0, score.share))} of the gap.`;

function sizeOf(rms: number): string {
  const size = `an RMS gap of ${short(rms)}`;
  if (rms <= FLOAT32_RMS) return `${size} is float32 rounding`;
  if (rms <= BF16_RMS) return `${size} is bf16 rounding`;
  if (rms <= MOST_NOISE_RMS)
    return `${size} is within what bf16 rounding gives in large models (up to ${MOST_NOISE_RMS})`;
  return `${size} is more than rounding gives (up to ${MOST_NOISE_RMS})`;
}

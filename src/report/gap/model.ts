// Each side beside the model, in words: which of the two departs from it, and by which cause.
import { BF16_RMS, MOST_NOISE_RMS } from '../../gap/analyse.ts';
import { type Against, departs, type Side, sidesOf } from '../../gap/model.ts';
import { plural } from '../text/plural.ts';
import { percent, short } from './numbers.ts';

/** What scored the rows. */
export interface Scoring {
  readonly folder: string;
  /** That the folder declares. */
  readonly dtype: string;
  readonly device: string;
  /** Rows that were not scored, in a sentence; undefined: none. */
  readonly left?: string;
}

export interface Judged {
  readonly against: Against;
  readonly scoring: Scoring;
}

/** What was compared with what. */
export function scoringSentence({ against, scoring }: Judged): string {
  const { rows, tokens, roundingRms, flips } = against;
  const { folder, dtype, device, left } = scoring;
  const rounding =
    roundingRms === undefined ? '' : ` Scored in ${dtype}, it moves by an RMS of ${short(roundingRms)}.`;
  const routers =
    flips === undefined || flips.share === 0
      ? ''
      : ` Router flips: in ${dtype} its routers send ${percent(flips.share)} of tokens to other experts, with an RMS of ${short(flips.rms)}; that of the others is ${short(flips.otherRms)}.`;
  return `${folder} in float32 on ${device}: ${plural(rows, 'row')}, ${plural(tokens, 'token')}.${rounding}${routers}${left === undefined ? '' : ` ${left}`}`;
}

/** In a sentence: which side is wrong. */
export function sidesSentence({ against }: Judged): string {
  const seen = sidesOf(against);
  const wrong = seen.filter(({ side }) => departs(side)).map(({ name }) => name);
  const [one] = wrong;
  const [only] = seen;
  if (seen.length === 1 && only !== undefined) {
    const other = only.name === 'engine' ? 'trainer' : 'engine';
    const does = one === undefined ? 'agrees with the model, within rounding' : 'departs from the model';
    return `The ${only.name} ${does}. The files have no log-probabilities of the ${other}.`;
  }
  if (one === undefined) return 'Both sides agree with the model, within rounding.';
  if (wrong.length === 2)
    return 'Both sides depart from the model: compare the weights and prompts of both with the folder.';
  return `The ${one} departs from the model; the ${one === 'engine' ? 'trainer' : 'engine'} agrees with it.`;
}

export function sideText({ analysis: { verdict, named, leftRms }, rms }: Side): string {
  const size = `RMS ${short(rms)}`;
  if (verdict === 'noise')
    return `agrees: ${size}${rms > MOST_NOISE_RMS ? ", within the model's own rounding" : rms > BF16_RMS ? ', within what rounding gives in large models' : ''}`;
  if (verdict === 'unexplained') return `departs: ${size}, and no cause predicts it`;
  const causes = named.map(({ id, share }) => `${id} explains ${percent(share)}`).join(', ');
  return `departs: ${size}; ${causes}; the rest is ${short(leftRms)}`;
}

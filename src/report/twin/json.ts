// A twin for a program. What is added later may be there, what is here stays.
import { REPEAT, type TwinResult, verdictOf } from '../../twin/twin.ts';
import type { Difference, Outcome } from '../../twin/verdict.ts';
import { VERSION } from '../../version.ts';
import { differenceSentences, type TextOf, verdictLine, type Written } from './twin.ts';

/** @param folder of the records of all runs */
export function twinJson(
  results: readonly TwinResult[],
  {
    folder,
    textOf,
    written,
  }: { readonly folder: string; readonly textOf: TextOf; readonly written: Written },
): object {
  return {
    version: VERSION,
    verdict: verdictOf(results),
    sentence: verdictLine(results),
    folder,
    changed_files: written.before,
    overwritten_files: written.again,
    changes: results.map(({ name, sentence, outcome }) => ({
      change: name,
      does: sentence,
      outcome: outcome.kind,
      ...(outcome.kind === 'agree'
        ? { steps: outcome.steps, times_rounding: outcome.units, until_step: outcome.until ?? null }
        : outcome.kind === 'sized'
          ? sizeOf(outcome)
          : outcome.kind === 'untold'
            ? { why: outcome.why, stderr: outcome.lines ?? [] }
            : placeOf(outcome.difference, textOf, name === REPEAT)),
    })),
  };
}

function sizeOf(outcome: Extract<Outcome, { kind: 'sized' }>): object {
  const { step, precisions, gradients, worst, signs, logprob, rounding } = outcome;
  return {
    step,
    precisions,
    gradients,
    most_of_all: { name: worst.name.replace(/^\d+ /, ''), relative: worst.relative },
    signs: signs ?? null,
    logprob,
    rounding: rounding ?? null,
  };
}

function placeOf(difference: Difference, textOf: TextOf, isRepeat: boolean): object {
  return {
    step: difference.step,
    differs: difference.what,
    sentences: differenceSentences(difference, textOf, isRepeat),
    ...('tensors' in difference && Array.isArray(difference.tensors)
      ? {
          tensors: difference.tensors.map(({ name, relative, norms }) => ({
            name: name.replace(/^\d+ /, ''),
            relative,
            norms,
          })),
        }
      : {}),
    ...('begins' in difference ? { begins_at: difference.begins?.replace(/^\d+ /, '') } : {}),
    ...('backward' in difference && difference.backward?.kind === 'module'
      ? { backward_module: difference.backward.module }
      : {}),
    ...('names' in difference
      ? { not_finite: difference.names.map((name) => name.replace(/^\d+ /, '')) }
      : {}),
    ...('lost' in difference ? { lost_micro_batches: difference.lost } : {}),
    ...('module' in difference ? { module: difference.module } : {}),
  };
}

// Failures one behind the other. One trainer that raises in every op is one failure, told once and referred to; and of
// many, one mistake breaks many properties, only the first are told whole.
import type { PropertyResult } from '../../check/events.ts';
import { sameTrouble } from '../../trainer/failure.ts';
import { harmless, wrap } from '../text/visible.ts';
import { LOOKS } from '../verdict.ts';
import { answerLines, type BlockOptions, failureLines, saidOf, shortLines } from './failure.ts';

/** A block for each result, the first `whole` in full; of a result without a failure its verdict and its reason. */
export function blocksOf(
  results: readonly PropertyResult[],
  optionsOf: (result: PropertyResult) => BlockOptions,
  whole = Number.POSITIVE_INFINITY,
): string[][] {
  const told = new Map<string, string>();
  let count = 0;
  const own = results.filter(({ failure }) => failure?.explainedBy === undefined);
  const blocks = own.map((result) => {
    const { failure, verdict, id, reason = '' } = result;
    const options = optionsOf(result);
    if (failure === undefined) {
      const { glyph, word } = LOOKS[verdict];
      const said = harmless(`${glyph} ${id}  ${word}: ${reason}`);
      return verdict === 'ask'
        ? [...wrap(said, options.width), ...answerLines(result.answers, options)]
        : [said];
    }
    const key = troubleKey(result);
    const first = key === undefined ? undefined : told.get(key);
    if (first !== undefined)
      return shortLines(result, failure, `The trainer fails here as in ${first}, above.`, options);
    if (key !== undefined) told.set(key, id);
    count++;
    return count <= whole
      ? failureLines(result, options)
      : shortLines(result, failure, saidOf(failure) ?? '', options);
  });
  return [...blocks, ...explainedBlocks(results, optionsOf)];
}

/** One block for all that one property explains. */
function explainedBlocks(
  results: readonly PropertyResult[],
  optionsOf: (result: PropertyResult) => BlockOptions,
): string[][] {
  const causes = new Set(results.flatMap(({ failure }) => failure?.explainedBy ?? []));
  return [...causes].flatMap((by) => {
    const behind = results.filter(({ failure }) => failure?.explainedBy === by);
    const [first] = behind;
    if (first === undefined) return [];
    const ids = behind.map(({ id }) => id).join(', ');
    const many = behind.length === 1 ? '1 failure' : `${behind.length} failures`;
    const said = `${LOOKS[first.verdict].glyph} ${many} of the same op may be nothing but ${by}, above: one request has two answers. Run again once it holds: ${ids}.`;
    return [wrap(harmless(said), optionsOf(first).width)];
  });
}

/** What makes two trainer failures one: the sentence, whatever numbers the case brought into it. */
export function troubleKey({ failure }: PropertyResult): string | undefined {
  const trouble = failure?.trainerFailure;
  return trouble === undefined ? undefined : sameTrouble(trouble);
}

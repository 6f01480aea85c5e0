// What these properties say of a trainer, as its adapter declares itself: nothing is measured, nothing is shrunk.
import { properties } from '../../../properties/index.ts';
import { NOT_MEASURED } from '../../../src/check/profile/measured.ts';
import { type Property, type PropertyResult, run, type Tokenizer, type Trainer } from '../../../src/index.ts';

/** `instead`: parts of each property that are others in this test. */
export async function judgedBy(
  ids: readonly string[],
  trainer: Trainer,
  instead: Partial<Property> = {},
  tokenizer?: Tokenizer,
): Promise<readonly PropertyResult[]> {
  const results = await run(
    {
      trainer,
      tokenizer,
      properties: properties.filter(({ id }) => ids.includes(id)).map((one) => ({ ...one, ...instead })),
      seed: 5,
      cases: 30,
      command: 'test',
      measured: NOT_MEASURED,
      shrinkMilliseconds: 0,
    },
    () => undefined,
  );
  if (results.length !== ids.length) throw new Error(`not all of ${ids.join(', ')} were judged`);
  return results;
}

// What a critic is trained with: what it says of each token now, what it said at sampling, and what it should have said. Values
// move a little or far since sampling, and towards their return or away from it, so that a clip binds in some and not in others.
import fc from 'fast-check';
import { type GapOptions, type Gapped, type GapRow, gapLabels, gapped, inSteps } from './gaps.ts';

export type ValueCase = Gapped<'value' | 'old' | 'target', 'part'>;

export interface ValueOptions extends GapOptions {
  /** First minibatch: values are what they were at sampling, and none is its return. */
  readonly firstPass?: boolean;
}

/** float16 holds their squares, and bfloat16 tells them apart. */
const GRAIN = 16;
const PARTS = 3;
/** One row in so many is so many times as far from its returns. */
const FAR_ONE_IN = 8;
const FAR = 2;
/** Clips in use are 0.2 and 0.5. */
const USUAL_CLIP = 0.2;

/** An arbitrary batch for op `value_loss`; a row says which micro-batch it goes to. */
export function valueCase(options: ValueOptions = {}): fc.Arbitrary<ValueCase> {
  const off = inSteps(-3, 3, GRAIN);
  return gapped(
    {
      old: inSteps(-2, 2, GRAIN),
      moved: options.firstPass ? fc.constant(0) : moved(),
      error: options.firstPass ? off.map((error) => (error === 0 ? 1 : error)) : off,
    },
    { part: fc.nat(PARTS - 1), far: fc.nat(FAR_ONE_IN - 1) },
    options,
  ).map(({ rows }) => ({ rows: rows.map(laid) }));
}

/** How far a value is from the one at sampling: mostly about as far as it is clipped, sometimes far. */
function moved(): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 3, arbitrary: inSteps(-1, 1, GRAIN) },
    { weight: 1, arbitrary: inSteps(-3, 3, GRAIN / 2) },
    fc.constant(0),
  );
}

function laid({ far, ...row }: GapRow<'old' | 'moved' | 'error', 'part' | 'far'>): ValueCase['rows'][number] {
  const times = far === FAR_ONE_IN - 1 ? FAR : 1;
  return {
    ...row,
    tokens: row.tokens.map(({ trained, old, moved: by, error }) => ({
      trained,
      value: old + by,
      old,
      target: old + by - times * error,
    })),
  };
}

/** What a case of `value_loss` exercises. */
export function valueLabels(drawn: ValueCase): string[] {
  const labels = gapLabels(drawn);
  const tokens = drawn.rows.flatMap((row) => row.tokens.filter(({ trained }) => trained));
  const beyond = tokens.filter(({ value, old }) => Math.abs(value - old) > USUAL_CLIP);
  if (beyond.some(({ value, old, target }) => (value - old) * (target - value) > 0))
    labels.push('beyond the clip, towards its return');
  if (beyond.some(({ value, old, target }) => (value - old) * (target - value) < 0))
    labels.push('beyond the clip, away from its return');
  if (new Set(drawn.rows.map(({ part }) => part)).size > 1) labels.push('several micro-batches');
  return labels;
}

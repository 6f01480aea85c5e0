// What holds of any loss of a critic: which values have gradient and in which direction, and which a clip holds.
import {
  bandOf,
  discard,
  type Finding,
  gapsBehind,
  layValues,
  type Ok,
  type Property,
  type Subject,
  show,
  underGaps,
  type ValueCase,
  valueCase,
} from '../../../src/index.ts';
import { base, coverage, strips, valueArgs } from './cases.ts';

const support: Property<ValueCase> = {
  ...base,
  id: 'value-loss/gradient-exactly-where-the-mask-is',
  title:
    'In the first step on a batch, exactly the values of trained tokens have gradient, and each is drawn to its return',
  why: 'Gradient elsewhere teaches the critic the zeros of the padding or what a tool wrote; none is a critic that never learns.',
  catches: ['MSK-06', 'VAL-10', 'VAL-11', 'MSK-01'],
  given: () => valueCase({ gaps: true, firstPass: true }),
  coverage: { ...coverage, gap: 0.15 },
  async check(subject, drawn) {
    const args = valueArgs(drawn);
    const observed = await subject.ask('value_loss', args);
    const { loss_weights: weights } = observed;
    if (weights === undefined) return discard('the answer has no loss_weights', 'trainer');
    for (const [row, marks] of args.completion_mask.entries()) {
      for (const [column, on] of marks.entries()) {
        const weight = weights[row]?.[column] ?? Number.NaN;
        const error = (args.values[row]?.[column] ?? 0) - (args.returns[row]?.[column] ?? 0);
        if (on === 1 ? weight * error > 0 : weight === 0) continue;
        const what =
          on === 1
            ? `is ${show(error)} off its return, and its gradient is ${show(weight)}`
            : `is masked out, and its gradient is ${show(weight)}`;
        return {
          kind: on === 1 ? 'trained' : 'masked',
          sentence: `The value of token ${column} of row ${row} ${what}.`,
          strips: strips(subject, drawn, row, [column], observed),
        };
      }
    }
    return undefined;
  },
};

/** Beyond the clip and before the return, or as far on the other side; both exact in half precision, beside a clip of usual size. */
const [NEAR, FAR, RETURN] = [0.25, 0.75, 1];

const clip: Property<ValueCase> = {
  ...base,
  id: 'value-loss/clip-holds-what-has-moved-to-its-return',
  title:
    'A value beyond its clip costs the same however near to its return, and ever more the further it has moved away',
  why: 'Clipped on the wrong side, the critic may run off from its returns without end, and is drawn to them where it has moved far enough.',
  catches: ['VAL-09', 'VAL-10'],
  needs: [
    ({ semantics: { value_clip: width } }) =>
      typeof width === 'number' ? undefined : 'values are not clipped, or how is not declared (value_clip)',
  ],
  given: () => valueCase(),
  coverage,
  async check(subject, drawn) {
    const { value_clip: width } = subject.semantics;
    if (typeof width !== 'number') return discard('values are not clipped');
    const at = (steps: number) => moved(drawn, steps < 0 ? steps - width : steps + width, width + RETURN);
    const ask = async (steps: number) => subject.ask('value_loss', valueArgs(at(steps)));
    const [near, far, off, further] = [await ask(NEAR), await ask(FAR), await ask(-NEAR), await ask(-FAR)];
    const band = bandOf(subject, drawn.rows.flatMap(({ tokens }) => tokens).length);
    if (!band.close(far.loss, near.loss))
      return {
        kind: 'not held',
        sentence: `All values are beyond their clip of ${width}, on the side of their returns: the loss should not move with them, and goes from ${show(near.loss)} to ${show(far.loss)} when they come nearer by ${FAR - NEAR}.`,
        note: band.reason,
      };
    if (!(further.loss > off.loss + band.allowed(off.loss)))
      return {
        kind: 'held',
        sentence: `All values have moved away from their returns, beyond their clip of ${width}: the loss should rise as they go on, and is ${show(off.loss)} and, ${FAR - NEAR} further, ${show(further.loss)}.`,
        note: band.reason,
      };
    return slopeFinding(subject, at(FAR), far, false) ?? slopeFinding(subject, at(-FAR), further, true);
  },
};

/** Every token moved by `by` since sampling, towards its return or away from it, which is `target` off. */
function moved(drawn: ValueCase, by: number, target: number): ValueCase {
  return {
    rows: drawn.rows.map((row) => ({
      ...row,
      tokens: row.tokens.map((token) => {
        const side = token.target < token.old ? -1 : 1;
        return { ...token, value: token.old + side * by, target: token.old + side * target };
      }),
    })),
  };
}

/** The first trained token that has gradient where its value is held, or none where it is not. */
function slopeFinding(
  subject: Subject,
  drawn: ValueCase,
  answer: Ok<'value_loss'>,
  expected: boolean,
): Finding | undefined {
  for (const [row, marks] of layValues(drawn).completion_mask.entries()) {
    const column = marks.findIndex(
      (on, t) => on === 1 && ((answer.loss_weights?.[row]?.[t] ?? Number(expected)) !== 0) !== expected,
    );
    if (column < 0) continue;
    const weight = show(answer.loss_weights?.[row]?.[column]);
    return {
      kind: 'slope',
      sentence: `The value of token ${column} of row ${row} is beyond its clip, ${expected ? 'away from' : 'towards'} its return, and its gradient is ${weight}; there should be ${expected ? 'one' : 'none'}.`,
      strips: strips(subject, drawn, row, [column], answer),
    };
  }
  return undefined;
}

export const valueLossGradient: readonly Property<ValueCase>[] = underGaps(gapsBehind, [support, clip]);

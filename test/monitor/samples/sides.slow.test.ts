// A gap that no cause predicts is no pass: the rule judges nothing, and a remark names the command that finds the side.
import { expect, test } from 'vitest';
import { plantedOf } from '../../gap/cases.ts';
import { read } from './logs/sides.ts';
import { ruleOf, watch } from './watching.ts';

test.each([
  ['adapter that was not sent', '0.8'],
  ['dropout left on', '0.4'],
])('%s, %s', (what, strength) => {
  const watched = watch(ruleOf('engine-and-trainer-agree'), read(plantedOf(what, strength), 5));
  expect(watched).toMatchObject({
    violations: [],
    judged: 0,
    why: 'the gap is too large for rounding, and no cause predicts it',
  });
  expect(watched.remarks).toEqual([
    expect.stringMatching(
      /^The log-probabilities .* in 200 rollouts from rollouts\/1\.jsonl line 1 on.*gap --model DIR/,
    ),
  ]);
});

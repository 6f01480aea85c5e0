import { describe, expect, test } from 'vitest';
import { bugClasses, bugs } from '../../src/bugs/index.ts';
import { knownBugLines } from '../../src/report/known-bugs.ts';
import type { Verdict } from '../../src/vocabulary.ts';

const FACTS = [
  { id: 'mask/a', catches: ['MSK-01', 'MSK-02'] },
  { id: 'mask/b', catches: ['MSK-02', 'EOS-01'] },
  { id: 'kl/a', catches: ['KL-01'] },
];
const said = (verdicts: Readonly<Record<string, Verdict>>): string =>
  knownBugLines(
    FACTS,
    Object.entries(verdicts).map(([id, verdict]) => ({ id, verdict })),
    10_000,
  ).join('');

describe('the line about known bugs', () => {
  test('counts each bug once, of rules that judged something, whatever they found', () => {
    expect(said({ 'mask/a': 'pass', 'mask/b': 'fail', 'kl/a': 'unsupported' })).toContain(
      `can find 3 of the ${bugs.length} known bugs`,
    );
  });

  test.each(['unsupported', 'skipped', 'interrupted'] as const)('counts no rule that is %s', (verdict) => {
    expect(said({ 'mask/a': verdict, 'kl/a': 'pass' })).toContain('can find 1 of');
  });

  test('names the first classes of which no bug is found', () => {
    const text = said({ 'mask/a': 'pass', 'mask/b': 'pass', 'kl/a': 'ask' });
    expect(text).toContain(
      `none of these classes: text and tokens, padding, chat templates, log-probabilities, advantages, and ${Object.keys(bugClasses).length - 8} more;`,
    );
  });

  test('is not there where no rule judged anything', () => {
    expect(said({ 'mask/a': 'skipped' })).toBe('');
  });
});

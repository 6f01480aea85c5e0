import { describe, expect, it } from 'vitest';
import { otherAnswers, withOneAnswer } from '../../../src/generators/advantages/another-answer.ts';

const sample = (reference: string, right: string, wrong: string, prompt = `? ${reference}`) => ({
  prompt,
  reference,
  right,
  wrong,
});
const NOTHING = 'so on and so on';
const answers = (...samples: ReturnType<typeof sample>[]): string[] =>
  otherAnswers(samples).map(({ completion }) => completion);

describe('answers that are wrong for sure', () => {
  it('of a number are none, hold its digits or some of them, and have the other sign', () => {
    expect(answers(sample('42', '6 * 7 = 42, so {42}', '6 * 7 = 13, so {13}'))).toEqual([
      '6 * 7 = , so {}',
      '6 * 7 = 421, so {421}',
      '6 * 7 = 142, so {142}',
      '6 * 7 = 42.5, so {42.5}',
      '6 * 7 = 4, so {4}',
      '6 * 7 = -42, so {-42}',
      NOTHING,
    ]);
    expect(answers(sample('-5', '{-5}', '{5}'))).toEqual(['{}', '{-51}', '{-15}', '{-5.5}', '{5}', NOTHING]);
    // -0 is 0.
    expect(answers(sample('0', '{0}', '{3}'))).toEqual(['{}', '{01}', '{10}', '{0.5}', NOTHING]);
  });

  it('stand in the prompt alone', () => {
    const [shown] = otherAnswers([sample('42', '{42}', '{13}')]).filter(
      ({ completion }) => completion === NOTHING,
    );
    expect(shown?.prompt).toBe('? 42\n{42}');
  });

  it('are those of other questions, of the same kind', () => {
    expect(
      answers(
        sample('Wien', 'It is Wien', 'It is Graz'),
        sample('Bern', '<a>Bern</a>', '<a>Genf</a>'),
        sample('7', '7!', '8!'),
      ).filter((text) => /[BW]/.test(text)),
    ).toEqual(['It is Bern', '<a>Wien</a>']);
    expect(answers(sample('7', '=7', '=8'), sample('70', 'x', 'y'))).toContain('=70');
  });

  it('are none where one may be another form of the same', () => {
    expect(answers(sample('York', 'York', 'Kent'), sample('New York', 'New York', 'Kent'))).toEqual([]);
    expect(answers(sample('1/2', '{1/2}', '{1/3}'), sample('0.5', '{0.5}', '{0.6}'))).toEqual([]);
  });

  it.each([
    ['the wrong answer differs elsewhere too', sample('42', 'Sure: 42', 'Perhaps: 32')],
    ['the thought is not wrong where the answer is', sample('42', '6*7=42 {42}', '6*7=42 {13}')],
    ['the reference does not stand in it', sample('42', 'forty-two', 'forty-one')],
    ['the reference is part of a number', sample('2', '42', '43')],
    ['the reference stands behind a sign', sample('2', 'x = -2', 'x = -3')],
    ['the reference has decimals behind it', sample('2', '{2.5}', '{3.5}')],
    ['the wrong answer is none', sample('42', 'x = 42', 'x = ')],
    ['the wrong answer is no number', sample('42', 'x = 42', 'x = many')],
    ['there is no reference', sample('', 'a', 'b')],
  ])('are not made up where %s', (_, one) => {
    expect(withOneAnswer([one])).toEqual([]);
    expect(answers(one)).toEqual([]);
  });
});

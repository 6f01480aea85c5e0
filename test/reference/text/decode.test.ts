import { describe, expect, it } from 'vitest';
import { cleanedUp } from '../../../src/reference/index.ts';

describe('cleanedUp', () => {
  it('takes the spaces before punctuation and contractions, as transformers does', () => {
    expect(cleanedUp("Well , I do n't know . Do you ? It 's fine !")).toBe(
      "Well, I don't know. Do you? It's fine!",
    );
    expect(cleanedUp("we 've , they 're , I 'm")).toBe("we've, they're, I'm");
    expect(cleanedUp("a ' b")).toBe("a'b");
  });

  it('leaves other spaces alone', () => {
    expect(cleanedUp(' a  b\n . ')).toBe(' a  b\n. ');
  });
});

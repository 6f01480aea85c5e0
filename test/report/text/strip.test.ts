import { expect, test } from 'vitest';
import type { Strip } from '../../../src/check/property.ts';
import { COLOURED, PLAIN } from '../../../src/report/text/paint.ts';
import { stripLines } from '../../../src/report/text/strip.ts';
import { visible, widthOf } from '../../../src/report/text/visible.ts';
import { maskStrip } from '../results.ts';

const shown = (strip: Strip, width: number): string => `\n${stripLines(strip, width, PLAIN).join('\n')}\n`;

function stripOf(texts: readonly string[], marks: readonly number[] = []): Strip {
  return {
    row: 0,
    tokens: texts.map((text, id) => ({ text, id, role: 'prompt' })),
    tracks: [{ name: 'mask', cells: texts.map((_, at) => (marks.includes(at) ? '1' : '0')) }],
    marks,
  };
}

test('a strip aligns every track under its token and marks the first mismatch', () => {
  expect(shown(maskStrip(), 100)).toMatchInlineSnapshot(`
    "
    row 1     0      1       2       3       4       5       6       7
    token     <pad>  <s>     What    ␠is     ␠the    ␠cap    ␠Paris  </s>
    id        0      1       1724    338     278     2117    3681    2
    role      pad    prompt  prompt  prompt  prompt  prompt  compl.  stop
    expected  0      0       0       0       0       0       1       1
    observed  0      0       0       0       0       1       1       0
                                                     ▲▲▲             △
    "
  `);
});

test('a strip wraps at the terminal width', () => {
  expect(shown(maskStrip(), 60)).toMatchInlineSnapshot(`
    "
    row 1     0      1       2       3       4       5
    token     <pad>  <s>     What    ␠is     ␠the    ␠cap
    id        0      1       1724    338     278     2117
    role      pad    prompt  prompt  prompt  prompt  prompt
    expected  0      0       0       0       0       0
    observed  0      0       0       0       0       1
                                                     ▲▲▲

    row 1     6       7
    token     ␠Paris  </s>
    id        3681    2
    role      compl.  stop
    expected  1       1
    observed  1       0
                      △
    "
  `);
});

test('no line is wider than the terminal', () => {
  for (const width of [40, 60, 100]) {
    for (const line of stripLines(maskStrip(), width, PLAIN))
      expect(widthOf(line)).toBeLessThanOrEqual(width);
  }
});

test('double-width and combining characters keep their columns, and a joiner joins nothing', () => {
  const strip = stripOf(['你好', '👩‍👩‍👧', 'é', '\u0301', 'zz'], [4]);
  expect(shown(strip, 60)).toMatchInlineSnapshot(`
    "
    row 0  0       1                     2       3        4
    token  你好    👩\\u{200d}👩\\u{200d…  é       \\u{301}  zz
    id     0       1                     2       3        4
    role   prompt  prompt                prompt  prompt   prompt
    mask   0       0                     0       0        1
                                                          ▲▲▲
    "
  `);
  const [, token = '', id = ''] = stripLines(strip, 60, PLAIN);
  expect(widthOf(token.slice(0, token.indexOf('zz')))).toBe(widthOf(id.slice(0, id.lastIndexOf('4'))));
});

test('whitespace, control and invisible characters are visible', () => {
  expect(
    shown(stripOf([' a', '\n', '\t', '\r', '\u001b[2J', '\u200b', '', '\u00a0', '\u202e']), 100),
  ).toMatchInlineSnapshot(`
    "
    row 0  0       1       2       3       4        5         6       7       8
    token  ␠a      ⏎       ⇥       ␍       \\x1b[2J  \\u{200b}  ''      \\xa0    \\u{202e}
    id     0       1       2       3       4        5         6       7       8
    role   prompt  prompt  prompt  prompt  prompt   prompt    prompt  prompt  prompt
    mask   0       0       0       0       0        0         0       0       0
    "
  `);
});

test('a long strip keeps the surroundings of its marks and says how much it leaves out', () => {
  const strip = stripOf(
    Array.from({ length: 200 }, (_, at) => `t${at}`),
    [100],
  );
  expect(shown(strip, 100)).toMatchInlineSnapshot(`
    "
    row 0  0       1       +92  94      95      96      97      98      99      100     101     102
    token  t0      t1      …    t94     t95     t96     t97     t98     t99     t100    t101    t102
    id     0       1       …    94      95      96      97      98      99      100     101     102
    role   prompt  prompt  …    prompt  prompt  prompt  prompt  prompt  prompt  prompt  prompt  prompt
    mask   0       0       …    0       0       0       0       0       0       1       0       0
                                                                                ▲▲▲

    row 0  103     104     105     106     +91  198     199
    token  t103    t104    t105    t106    …    t198    t199
    id     103     104     105     106     …    198     199
    role   prompt  prompt  prompt  prompt  …    prompt  prompt
    mask   0       0       0       0       …    0       0
    "
  `);
});

test('a very long token is cut, so that the next column stays on the screen', () => {
  const [, token] = stripLines(stripOf(['x'.repeat(500), 'y']), 60, PLAIN);
  expect(token).toMatchInlineSnapshot(`"token  xxxxxxxxxxxxxxxxxxx…  y"`);
});

test('colour changes no column', () => {
  const plain = stripLines(maskStrip(), 60, PLAIN);
  const coloured = stripLines(maskStrip(), 60, COLOURED);
  expect(coloured.map(widthOf)).toEqual(plain.map(widthOf));
  expect(coloured.join('')).toContain('\u001b[38;5;208m');
});

test('a strip of no tokens is no error', () => {
  expect(stripLines(stripOf([]), 60, PLAIN)).toEqual([]);
});

test('made-up tokens are columns: no text, no ids', () => {
  const tokens = ['prompt', 'completion'].map((role) => ({ role: role as 'prompt' | 'completion' }));
  const tracks = [{ name: 'ref', cells: ['·', '-0.5'] }];
  expect(shown({ row: 0, tokens, tracks, marks: [1] }, 60)).toMatchInlineSnapshot(`
    "
    row 0, column  0       1
    role           prompt  compl.
    ref            ·       -0.5
                           ▲▲▲
    "
  `);
});

test.each([
  ['Chinese', '模型'],
  ['Japanese with a mark of its own', 'か\u3099'],
  ['Korean', '훈련'],
  ['a family of emoji', '👩\u200d👩\u200d👧'],
  ['a flag', '🇩🇪'],
  ['a skin tone', '👍🏽'],
  ['a heart with a variation selector', '❤\ufe0f'],
  ['Vietnamese in combining marks', 'e\u0302\u0301'],
  ['a tower of marks', `a${'\u0301'.repeat(5000)}`],
  ['pointed Hebrew', 'שָׁלוֹם'],
  ['Arabic', 'السلام'],
  ['a zero-width space', 'a\u200bb'],
  ['an invisible letter', '\u3164'],
  ['a direction override', '\u202eabc'],
  ['half a character', '\ud83d'],
  ['an escape code', '\u001b[2J\u001b[31m'],
  ['a hundred thousand characters', '字'.repeat(100_000)],
])('%s in a token moves no column', (_, text) => {
  const lines = stripLines(stripOf([text, 'zz'], [1]), 80, PLAIN);
  const [head = '', token = ''] = lines;
  const before = (line: string, word: string): number => widthOf(line.slice(0, line.lastIndexOf(word)));
  expect(before(token, 'zz')).toBe(before(head, '1'));
  expect(before(lines[3] ?? '', 'prompt')).toBe(before(head, '1'));
  // A mark after right-to-left letters keeps the next cell from being drawn among them; nothing else is invisible.
  const unseen = token.replaceAll(LEFT_TO_RIGHT_MARK, '');
  expect(unseen).not.toMatch(/[\p{C}\p{Default_Ignorable_Code_Point}]/u);
  expect(token.length).toBeLessThan(80);
});

test('cells that are read from the right are kept apart from each other', () => {
  const [, token = ''] = stripLines(stripOf(['שלום', 'עולם', 'a']), 80, PLAIN);
  expect(token).toBe(`token  שלום${LEFT_TO_RIGHT_MARK}    עולם${LEFT_TO_RIGHT_MARK}    a`);
});

test('text that is already shown is shown the same again', () => {
  for (const text of [' the\n\t', '\u001b[2J', '', '\u200b', 'e\u0301', '\\u{200b}', '\ud83d'])
    expect(visible(visible(text))).toBe(visible(text));
});

const LEFT_TO_RIGHT_MARK = '\u200e';

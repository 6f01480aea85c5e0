// How rows of a data set are printed: every line within the width, and training to be seen without colour.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { viewPage } from '../../src/report/html/view/view.ts';
import { COLOURED, PLAIN } from '../../src/report/text/paint.ts';
import { widthOf } from '../../src/report/text/visible.ts';
import { viewLines } from '../../src/report/view/view.ts';
import { scan, type View } from '../../src/view/scan.ts';
import { writerOf } from '../../src/view/writer.ts';
import { familyFolders, loaded } from '../tokenizers/folders.ts';

const tokenizer = loaded(familyFolders.qwen ?? '');
const writer = writerOf(tokenizer, tokenizer.chatTemplate ?? '');

function viewOf(...values: readonly unknown[]): View {
  const entries = values.map((value, at) => ({ number: at + 1, value }));
  return scan(entries, { tokenizer, writer, truncationSide: 'right' }, { most: 10 });
}

const print = { of: ['data.jsonl'], strip: false, full: false };
const talk = (answer: string) => ({
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: answer },
  ],
});

test('no line is wider than the screen, whatever the contents', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.integer({ min: 60, max: 120 }),
      (content, width) => {
        for (const line of viewLines(viewOf(talk(content)), { ...print, width, paint: PLAIN }))
          expect(widthOf(line)).toBeLessThanOrEqual(width);
      },
    ),
    { numRuns: 60 },
  );
});

test('every line of a long answer says that it is trained', () => {
  const lines = viewLines(viewOf(talk('many words '.repeat(60))), {
    ...print,
    full: true,
    width: 80,
    paint: PLAIN,
  });
  const answer = lines.filter((line) => line.includes('many'));
  expect(answer.length).toBeGreaterThan(5);
  for (const line of answer) expect(line).toMatch(/⟦.*⟧/);
});

test('a long turn is shown by its ends, and whole with `full`', () => {
  const view = viewOf(talk('many words '.repeat(400)));
  const short = viewLines(view, { ...print, width: 80, paint: PLAIN });
  expect(short.length).toBeLessThan(25);
  expect(short.join('\n')).toContain('tokens more');
  expect(viewLines(view, { ...print, full: true, width: 80, paint: PLAIN }).length).toBeGreaterThan(60);
});

test('the wrong token is marked below it', () => {
  const made = viewOf(talk('Yes.')).kept[0]?.row;
  const stop = made?.answers[0]?.stop ?? -1;
  const labels = made?.ids.map((id, at) => (at !== stop && made.trained[at] ? id : -100));
  const lines = viewLines(viewOf({ input_ids: made?.ids, labels }), { ...print, width: 100, paint: PLAIN });
  const at = lines.findIndex((line) => line.includes('▲'));
  expect(lines[at]?.trim()).toBe('▲'.repeat('<|im_end|>'.length));
  expect(lines[at - 1]?.indexOf('<|im_end|>')).toBe(lines[at]?.indexOf('▲'));
});

test('colour changes nothing but the colour', () => {
  const view = viewOf(talk(''), talk('x'), { nothing: 1 });
  const bare = (paint: typeof PLAIN): string[] =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes begin with one.
    viewLines(view, { ...print, width: 90, paint }).map((line) => line.replace(/\u001b\[[0-9;]*m/g, ''));
  expect(bare(COLOURED)).toEqual(bare(PLAIN));
});

test('text of a data set is text on the page, and does not move the cursor on the terminal', () => {
  const bad = '<img src=x onerror=alert(1)> \u001b[2J \u202e';
  const view = viewOf(talk(bad), { messages: [{ role: `user${bad}`, content: bad }] });
  const page = viewPage(view, { of: ['x'] });
  expect(page).not.toContain('<img');
  expect(page).not.toContain('\u202e');
  for (const line of viewLines(view, { ...print, width: 90, paint: PLAIN })) {
    expect(line).not.toContain('\u001b');
    expect(line).not.toContain('\u202e');
  }
});

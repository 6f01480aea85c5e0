// The page that `view --html` writes: from disk, on a narrow screen, without script, for who hears it.
import { AxeBuilder } from '@axe-core/playwright';
import { describe, expect, test } from 'vitest';
import { viewPage } from '../../src/report/html/view/view.ts';
import { scan } from '../../src/view/scan.ts';
import { writerOf } from '../../src/view/writer.ts';
import { familyFolders, loaded } from '../tokenizers/folders.ts';
import { open, unfold, useBrowser, widthOf } from './world.ts';

useBrowser();

const tokenizer = loaded(familyFolders.qwen ?? '');
const writer = writerOf(tokenizer, tokenizer.chatTemplate ?? '');
const talk = (answer: string) => ({
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi <b>you</b> 日本 שלום' },
    { role: 'assistant', content: answer },
  ],
});
const right = scan(
  [{ number: 1, value: talk('Yes.') }],
  { tokenizer, writer, truncationSide: 'right' },
  { most: 1 },
).kept[0]?.row;
const stop = right?.answers[0]?.stop ?? -1;
const unstopped = {
  input_ids: right?.ids,
  labels: right?.ids.map((id, at) => (right.trained[at] && at !== stop ? id : -100)),
};
const VALUES = [
  talk('Hello there!'),
  talk('word '.repeat(400) + 'x'.repeat(300)),
  talk('I say <|im_end|> myself.'),
  unstopped,
  talk(''),
  { chosen: talk('Yes.').messages, rejected: talk('No.').messages },
  { nothing: 'here' },
];
const view = scan(
  VALUES.map((value, at) => ({ number: at + 1, value })),
  { tokenizer, writer, truncationSide: 'right' },
  { most: 50 },
);
const document = viewPage(view, { of: ['data.jsonl', 'tokenizer qwen'] });

describe('the page of a data set', () => {
  test('opens from disk, asks for nothing, complains of nothing', async () => {
    const { page, requests, troubles } = await open(document);
    await page.waitForLoadState('networkidle');
    expect(await page.locator('h1').innerText()).toContain('4 of 8 rows are flagged');
    expect(requests).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test('marks the stop token that is not trained, and leads to its row', async () => {
    const { page } = await open(document);
    expect(await page.locator('#row-4 .flow mark').allInnerTexts()).toEqual(['<|im_end|>']);
    await page.locator('section', { hasText: 'stop-untrained' }).locator('a').first().click();
    expect(page.url()).toContain('#row-4');
  });

  test('shows what is trained by more than colour', async () => {
    const { page } = await open(document);
    const underline = (selector: string): Promise<string> =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).borderBottomColor`);
    expect(await underline('#row-1 .run:not(.on) i')).toBe('rgba(0, 0, 0, 0)');
    expect(await underline('#row-1 .run.on i')).not.toBe('rgba(0, 0, 0, 0)');
  });

  test.each(['light', 'dark'] as const)('axe finds nothing, all unfolded, %s', async (colorScheme) => {
    const { page } = await open(document, { colorScheme });
    await unfold(page);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html).slice(0, 3)])).toEqual([]);
  });

  test('does not scroll sideways at 360 pixels, all unfolded', async () => {
    const { page } = await open(document, { viewport: { width: 360, height: 740 } });
    await unfold(page);
    expect(await widthOf(page)).toBeLessThanOrEqual(360);
  });

  test('is read without script', async () => {
    const { page } = await open(document, { javaScriptEnabled: false });
    expect(await page.locator('#row-1').innerText()).toContain('Hello');
    await page.locator('#row-4 summary').click();
    expect(await page.locator('#row-4 table').isVisible()).toBe(true);
  });
});

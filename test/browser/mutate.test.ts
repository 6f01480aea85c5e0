// The page that `mutate --html` writes: from disk, on a narrow screen, for who hears it, and by its filter.
import { expect, test } from 'vitest';
import { mutatePage } from '../../src/report/html/mutate/mutate.ts';
import { MUTATION } from '../report/html/mutate/mutation.ts';
import { testPage } from './page.ts';
import { open, useBrowser } from './world.ts';

useBrowser();

const document = mutatePage(MUTATION);

testPage(document, '1 survives');

test('the filter finds outcomes, kinds and words', async () => {
  const { page } = await open(document);
  const shown = async (text: string): Promise<number> => {
    await page.getByRole('searchbox').fill(text);
    return page.locator('[data-item=change]:not([hidden])').count();
  };
  expect(await shown('s:survives')).toBe(2);
  expect(await shown('s:found')).toBe(1);
  expect(await shown('kind:mask')).toBe(5);
  expect(await shown('entropy_of')).toBe(1);
  expect(await shown('nowhere')).toBe(0);
});

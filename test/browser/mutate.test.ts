// The page that `mutate --html` writes: from disk, on a narrow screen, for who hears it, and by its filter.
import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from 'vitest';
import { mutatePage } from '../../src/report/html/mutate/mutate.ts';
import { MUTATION } from '../report/html/mutate/mutation.ts';
import { open, unfold, useBrowser, widthOf } from './world.ts';

useBrowser();

const document = mutatePage(MUTATION);

test('opens from disk, asks for nothing, complains of nothing', async () => {
  const { page, requests, troubles } = await open(document);
  expect(await page.locator('h1').innerText()).toContain('1 survives');
  expect(requests).toEqual([]);
  expect(troubles).toEqual([]);
});

test.each(['light', 'dark'] as const)('can be heard and read, %s', async (colorScheme) => {
  const { page } = await open(document, { colorScheme });
  await unfold(page);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
});

test('fits a narrow screen', async () => {
  const { page } = await open(document, { viewport: { width: 320, height: 640 } });
  await unfold(page);
  expect(await widthOf(page)).toBeLessThanOrEqual(320);
});

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

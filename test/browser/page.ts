// What every page that a command writes is held to, whatever is on it.
import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from 'vitest';
import { open, unfold, widthOf } from './world.ts';

/** Adds the tests of `document`, whose heading contains `heading`; useBrowser() comes first. */
export function testPage(document: string, heading: string): void {
  test('opens from disk, asks for nothing, complains of nothing', async () => {
    const { page, requests, troubles } = await open(document);
    await page.waitForLoadState('networkidle');
    expect(await page.locator('h1').innerText()).toContain(heading);
    expect(requests).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test.each(['light', 'dark'] as const)('can be heard and read, %s', async (colorScheme) => {
    const { page } = await open(document, { colorScheme });
    await unfold(page);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
  });

  test.each([320, 360])('does not scroll sideways at %d pixels', async (width) => {
    const { page } = await open(document, { viewport: { width, height: 740 } });
    await unfold(page);
    expect(await widthOf(page)).toBeLessThanOrEqual(width);
  });
}

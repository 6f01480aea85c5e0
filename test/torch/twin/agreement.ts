import { expect } from 'vitest';
import { of, twin } from './runs.ts';

/** What is right agrees under these changes, none parts, and rounding stays well below the limit. */
export async function expectAgreement(
  options: readonly string[],
  command: string,
  agree: readonly string[],
): Promise<void> {
  const told = await twin(options, command);
  expect(of(told, 'parts')).toEqual([]);
  expect(of(told, 'agree')).toEqual(agree);
  for (const { times_rounding } of told.values()) expect(times_rounding).toBeLessThan(5);
}

// What the cases of a run exercised, counted over the cases that really ran.
import type { PropertyResult } from './events.ts';
import type { Property } from './property.ts';

/** Shares of a smaller run say nothing. */
const LEAST_CASES = 50;

export interface LabelCount {
  add(given: unknown): void;
  counts(): Record<string, number>;
  thin(): PropertyResult['thin'];
}

export function countLabels(property: Property): LabelCount {
  const counts: Record<string, number> = {};
  let cases = 0;
  return {
    add(given) {
      cases++;
      for (const label of new Set(property.labels?.(given) ?? [])) counts[label] = (counts[label] ?? 0) + 1;
    },
    counts: () => ({ ...counts }),
    thin() {
      if (cases < LEAST_CASES) return [];
      return Object.entries(property.coverage ?? {})
        .map(([label, least]) => ({ label, share: (counts[label] ?? 0) / cases, least }))
        .filter(({ share, least }) => share < least);
    },
  };
}

// Versions as Python packages have them, compared by their numbers.

/** Whether `version` is older than `other`: 0.9 is before 0.15, and 1.13.0.dev0 counts as 1.13.0. */
export function isBefore(version: string, other: string): boolean {
  const [a, b] = [version, other].map(numbersOf);
  for (let at = 0; at < Math.max(a?.length ?? 0, b?.length ?? 0); at++) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

const numbersOf = (version: string): readonly number[] =>
  (/^\d+(\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number);

// Which rows each rank has, where a trainer has so many data-parallel ranks and no others: the processes of one torchrun. It
// is always told, because every rank is a process that must know which rows are its own.

type Parts = readonly (readonly number[])[];

/** A partition over exactly `count` ranks: part i is given to rank i modulo `count`; a rank may be left without rows. */
export function overRanks(parts: Parts, count: number): number[][] {
  const ranks = Array.from({ length: count }, (): number[] => []);
  for (const [at, rows] of parts.entries()) ranks[at % count]?.push(...rows);
  return ranks;
}

/** Rows in their order, as many on each rank as on any other, or one more: what a sampler deals out. */
export function dealt(rows: number, count: number): number[][] {
  const ranks = Array.from({ length: count }, (): number[] => []);
  for (let row = 0; row < rows; row++) ranks[Math.floor((row * count) / rows)]?.push(row);
  return ranks;
}

// Numbers of a gap as they are read.

/** One digit where there are no whole percents; never 0 for what is there. */
export function percent(share: number): string {
  const percents = 100 * share;
  return `${percents > 0 && percents < 1 ? Number(percents.toPrecision(1)) : Math.round(percents)} %`;
}

export const short = (value: number): string => String(Number(value.toPrecision(2)));

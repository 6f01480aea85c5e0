// The last, the lowest and the highest value of every series, by its index. Numbers in objects would be the greater part
// of the memory of ten thousand series, and of the time of a hundred million points.

export interface Tallies {
  readonly counts: Float64Array;
  readonly steps: Float64Array;
  readonly values: Float64Array;
  readonly lows: Float64Array;
  readonly highs: Float64Array;
}

export function makeTallies(room: number): Tallies {
  return {
    counts: new Float64Array(room),
    steps: new Float64Array(room).fill(Number.NaN),
    values: new Float64Array(room).fill(Number.NaN),
    lows: new Float64Array(room).fill(Number.POSITIVE_INFINITY),
    highs: new Float64Array(room).fill(Number.NEGATIVE_INFINITY),
  };
}

/** With room for twice as many. */
export function grown(old: Tallies): Tallies {
  const wider = makeTallies(2 * old.counts.length);
  for (const name of Object.keys(old) as (keyof Tallies)[]) wider[name].set(old[name]);
  return wider;
}

export function tally(
  { counts, steps, values, lows, highs }: Tallies,
  at: number,
  step: number,
  value: number,
): void {
  counts[at] = (counts[at] as number) + 1;
  steps[at] = step;
  values[at] = value;
  if (value < (lows[at] as number)) lows[at] = value;
  if (value > (highs[at] as number)) highs[at] = value;
}

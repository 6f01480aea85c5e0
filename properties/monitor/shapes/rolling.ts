// What rules over shapes take for the level of a series while its points go by: the median of its last values, which one
// odd batch does not move, at a constant price a point.

/** Values of which a level is the median: two of them may be odd. */
export const LEVEL_OF = 5;

/** The last values of a series, in the order in which they came. */
export interface Recent {
  readonly count: number;
  add(step: number, value: number): void;
  /** The newest is at 0; NaN beyond what is kept. */
  value(back: number): number;
  step(back: number): number;
  /** At most so many, the newest last. */
  values(most?: number): number[];
  /** The median of the newest `LEVEL_OF`, or of fewer where there are not as many. */
  level(): number;
  /** The median of three around this one; at the newest, of the newest three. */
  near(back: number): number;
}

export function recent(size: number): Recent {
  const steps = new Float64Array(size);
  const values = new Float64Array(size);
  const ranked = new Float64Array(LEVEL_OF);
  let count = 0;
  const at = (back: number): number =>
    back < 0 || back >= Math.min(count, size) ? -1 : (count - 1 - back) % size;
  const value = (back: number): number => {
    const place = at(back);
    return place < 0 ? Number.NaN : (values[place] as number);
  };
  /** Of so few, sorting by insertion is cheapest. */
  const medianOf = (from: number, length: number): number => {
    for (let each = 0; each < length; each++) {
      const next = value(from + each);
      let place = each;
      for (; place > 0 && (ranked[place - 1] as number) > next; place--)
        ranked[place] = ranked[place - 1] as number;
      ranked[place] = next;
    }
    const half = length >> 1;
    const upper = ranked[half] as number;
    return length % 2 === 1 ? upper : (upper + (ranked[half - 1] as number)) / 2;
  };
  return {
    get count() {
      return count;
    },
    add(step, next) {
      steps[count % size] = step;
      values[count % size] = next;
      count++;
    },
    value,
    step: (back) => (at(back) < 0 ? Number.NaN : (steps[at(back)] as number)),
    values(most = size) {
      const length = Math.min(count, size, most);
      return Array.from({ length }, (_, each) => value(length - 1 - each));
    },
    level: () => (count === 0 ? Number.NaN : medianOf(0, Math.min(LEVEL_OF, count))),
    near(back) {
      const from = Math.max(0, back - 1);
      return medianOf(from, Math.min(3, Math.min(count, size) - from));
    },
  };
}

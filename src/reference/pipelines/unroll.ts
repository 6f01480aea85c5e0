// A window of K steps of one segment: which of them are steps of the segment.

/** (K,): 1 where `start + k` is a step of the segment, 0 behind its end. */
export function unrolledMask(length: number, start: number, steps: number): number[] {
  return Array.from({ length: steps }, (_, k) => (start + k < length ? 1 : 0));
}

// Whether two pictures are of the same page: dot by dot where the same browser drew both with the same letters, by patches
// of colour where it did not. Both are shares from 0, the same, to 1.
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';

export interface Sizes {
  readonly width: number;
  readonly height: number;
}

export function sizeOf(picture: Buffer): Sizes {
  const { width, height } = PNG.sync.read(picture);
  return { width, height };
}

/** The share of dots that are seen to differ. Pictures of one size. */
export function unlikeDots(one: Buffer, other: Buffer): number {
  const [a, b] = [PNG.sync.read(one), PNG.sync.read(other)];
  return pixelmatch(a.data, b.data, undefined, a.width, a.height, { threshold: SEEN }) / (a.width * a.height);
}

/** Where they differ: the box around all dots that are seen to, in pixels. Pictures of one size. */
export function whereUnlike(one: Buffer, other: Buffer): string {
  const [a, b] = [PNG.sync.read(one), PNG.sync.read(other)];
  const mask = new PNG({ width: a.width, height: a.height });
  pixelmatch(a.data, b.data, mask.data, a.width, a.height, { threshold: SEEN, diffMask: true });
  const dots = Array.from({ length: a.width * a.height }, (_, dot) => dot).filter(
    (dot) => mask.data[4 * dot + 3] !== 0,
  );
  if (dots.length === 0) return 'nowhere';
  const [columns, rows] = [dots.map((dot) => dot % a.width), dots.map((dot) => Math.floor(dot / a.width))];
  const span = (values: readonly number[]): string => {
    const [low, high] = values.reduce(
      ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
      [Number.POSITIVE_INFINITY, 0],
    );
    return `${low} to ${high}`;
  };
  return `${dots.length} dots: x ${span(columns)}, y ${span(rows)}`;
}

/**
 * The share of patches whose mean colour is nowhere near their place in the other picture. Other letters break lines at
 * other words, so that everything below moves: a few patches up or down is the same place.
 */
export function unlikePatches(one: Buffer, other: Buffer): number {
  const [a, b] = [patchesOf(one), patchesOf(other)];
  return Math.max(missing(a, b), missing(b, a));
}

/** Of pixelmatch: what people see, less the smoothing of edges. */
const SEEN = 0.1;
/** In pixels. Larger than a letter, smaller than a band of a strip is high. */
const PATCH = 20;
/** Rows of patches that a line which breaks elsewhere may move what is below it. */
const MOVED = 4;
/** Steps of 255 in one channel. A band and the ground differ by 24, two faces of a text by less than 10. */
const NEAR = 11;

type Colour = readonly [number, number, number];
type Patches = readonly (readonly Colour[])[];

function patchesOf(picture: Buffer): Patches {
  const { width, height, data } = PNG.sync.read(picture);
  const count = (length: number): number => Math.floor(length / PATCH);
  return Array.from({ length: count(height) }, (_, row) =>
    Array.from({ length: count(width) }, (_, column) => meanOf(data, width, column * PATCH, row * PATCH)),
  );
}

function meanOf(data: Buffer, width: number, left: number, top: number): Colour {
  const sums: [number, number, number] = [0, 0, 0];
  for (let y = top; y < top + PATCH; y++)
    for (let x = left; x < left + PATCH; x++)
      for (const channel of [0, 1, 2] as const) sums[channel] += data[4 * (y * width + x) + channel] ?? 0;
  return sums.map((sum) => sum / PATCH ** 2) as unknown as Colour;
}

function missing(from: Patches, to: Patches): number {
  let count = 0;
  for (const [row, patches] of from.entries()) {
    const near = to.slice(Math.max(0, row - MOVED), row + MOVED + 1);
    for (const [column, colour] of patches.entries())
      if (!near.some((others) => isNear(colour, others[column]))) count++;
  }
  return count / (from.length * (from[0]?.length ?? 1));
}

function isNear(one: Colour, other: Colour | undefined): boolean {
  return one.every((value, channel) => Math.abs(value - (other?.[channel] ?? Number.NaN)) <= NEAR);
}

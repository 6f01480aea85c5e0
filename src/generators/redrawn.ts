// Cases that a check could say nothing about are drawn again, a few times: `filter` would draw for ever in a world that has
// no other cases. What is left of them the check sets aside.
import fc from 'fast-check';

/** A case that is wanted one time in two comes all but surely; a world that has none costs so many draws per case. */
const TRIES = 8;

class Redrawn<T> extends fc.Arbitrary<T> {
  readonly #inner: fc.Arbitrary<T>;
  readonly #wanted: (value: T) => boolean;

  constructor(inner: fc.Arbitrary<T>, wanted: (value: T) => boolean) {
    super();
    this.#inner = inner;
    this.#wanted = wanted;
  }

  override generate(random: fc.Random, bias: number | undefined): fc.Value<T> {
    let drawn = this.#inner.generate(random, bias);
    for (let tries = 1; tries < TRIES && !this.#wanted(drawn.value_); tries++)
      drawn = this.#inner.generate(random, bias);
    return drawn;
  }

  override canShrinkWithoutContext(value: unknown): value is T {
    return this.#inner.canShrinkWithoutContext(value);
  }

  /** Smaller cases that are not wanted are set aside by the check, and no failure. */
  override shrink(value: T, context: unknown): fc.Stream<fc.Value<T>> {
    return this.#inner.shrink(value, context);
  }
}

/** The same cases, less most of those that are not `wanted`. */
export function redrawn<T>(inner: fc.Arbitrary<T>, wanted: (value: T) => boolean): fc.Arbitrary<T> {
  return new Redrawn(inner, wanted);
}

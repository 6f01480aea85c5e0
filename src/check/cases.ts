// The cases of one property and one seed, drawn a chunk at a time: a long run keeps little in memory, and the trainer
// works on one chunk while the next is drawn. The values are those that fast-check itself draws from this seed.
import fc from 'fast-check';
import { xorshift128plus } from 'pure-rand/generator/xorshift128plus';
import type { Property } from './property.ts';

/** Chunks double up to this, so that the first case runs at once. */
const FIRST_CHUNK = 64;
const LARGEST_CHUNK = 2048;

export interface Cases<Case> {
  readonly count: number;
  /** In order, each once. */
  next(): Case;
  /** Any of them, drawn again. */
  at(index: number): Case;
}

/**
 * The seed of a property's cases: of the run and of the op that it asks first. Properties that ask the same op first, with the
 * same generator, judge the same cases, alone or together; the trainer answers each request once (trainer/shared-answers.ts). Only
 * one that is `drawnAlone` has a seed of its own.
 */
export function drawSeed(seed: number, { id, ops, drawnAlone }: Drawn): number {
  const name: string = drawnAlone === true ? id : (ops[0] ?? '');
  let hash = seed | 0;
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0;
  return hash;
}

type Drawn = Pick<Property, 'id' | 'ops' | 'drawnAlone'>;

export function drawCases<Case>(arbitrary: fc.Arbitrary<Case>, seed: number, count: number): Cases<Case> {
  const draw = inTurn(arbitrary, seed);
  let chunk: readonly Case[] = [];
  let [used, drawn, size] = [0, 0, FIRST_CHUNK];
  return {
    count,
    next() {
      if (used === chunk.length) {
        chunk = draw(Math.min(size, Math.max(1, count - drawn)));
        drawn += chunk.length;
        used = 0;
        size = Math.min(2 * size, LARGEST_CHUNK);
      }
      return chunk[used++] as Case;
    },
    // A path of one number is fast-check's way of naming the case to begin with.
    at: (index) =>
      fc.sample(arbitrary, { seed, numRuns: 1, ...(index === 0 ? {} : { path: String(index) }) })[0] as Case,
  };
}

/**
 * Each call draws so many more. By a path fast-check would go through all earlier cases to come to the next: over many
 * chunks that is the square of the cases. So its generator is kept where it stands, and it is told which case comes,
 * because the bias of a case depends on that.
 */
function inTurn<Case>(arbitrary: fc.Arbitrary<Case>, seed: number): (count: number) => Case[] {
  const whole = fc.property<[Case]>(arbitrary, () => true);
  const generator = xorshift128plus(seed);
  let drawn = 0;
  return (numRuns) => {
    const from = drawn;
    drawn += numRuns;
    const rest: fc.IRawProperty<[Case]> = {
      isAsync: () => false,
      generate: (random, index = 0) => whole.generate(random, from + index),
      shrink: (value) => whole.shrink(value),
      run: (value) => whole.run(value),
      runBeforeEach: () => {},
      runAfterEach: () => {},
    };
    return fc.sample(rest, { seed, numRuns, randomType: () => generator }).map(([value]) => value);
  };
}

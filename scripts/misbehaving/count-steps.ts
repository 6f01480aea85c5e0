// Counts the steps of each job at its size, and at four times that, and prints them as JSON. A process of its own, since V8 counts
// blocks only of code that it compiles afterwards: everything is imported behind the beginning of the count. What a built-in does
// within one step (indexOf, JSON.parse) is not seen.
import { countBlocks } from '../v8-counts.ts';

const TIMES = 4;
const taken = countBlocks({ calls: true });
const { JOBS } = await import('../../test/outside/jobs.ts');

const counted: Record<string, readonly [few: number, many: number]> = {};
for (const [name, { size, of }] of JOBS) {
  of(size / 2)(); // What is made once is made now; renderings of the same messages are kept, so that these are others.
  counted[name] = [stepsOf(of(size)), stepsOf(of(TIMES * size))];
}
process.stdout.write(JSON.stringify(counted));

/** Blocks of our own code that `work` ran. */
function stepsOf(work: () => void): number {
  taken();
  work();
  return taken()
    .filter(({ url }) => url.includes('/dist/src/'))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((sum, { count }) => sum + count, 0);
}

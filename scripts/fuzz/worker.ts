// One reader, damaged files for a given time: `worker.js READER SEED SECONDS SCRATCH [MOST]`. What is being read lies in a file, so
// that it is known what ended the process, or what it still reads.
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { diceOf, mutated } from './mutate.ts';
import { READERS } from './readers.ts';

const [, , name = '', seed = '1', seconds = '1', scratch = '', most = 'Infinity'] = process.argv;
const reader = READERS[name];
if (reader === undefined) throw new Error(`there is no reader ${name}`);

/** A turn of the event loop now and then: what nobody listens for is heard only there. */
const TURN = 16;

const dice = diceOf(Number(seed));
const seeds = reader.seeds();
const held = openSync(`${scratch}.input`, 'w+');
const end = performance.now() + 1_000 * Number(seconds);
let inputs = 0;
let slowest = 0;
for (const each of seeds) await reader.read(each, scratch);
while (performance.now() < end && inputs < Number(most)) {
  const bytes = mutated(seeds, dice);
  ftruncateSync(held, 0);
  writeSync(held, bytes, 0, bytes.length, 0);
  const before = performance.now();
  await reader.read(bytes, scratch);
  slowest = Math.max(slowest, performance.now() - before);
  inputs++;
  if (inputs % TURN === 0) {
    await turn();
    if (inputs % (4 * TURN) === 0) tell();
  }
}
await turn();
closeSync(held);
tell();

function tell(): void {
  const memory = process.resourceUsage().maxRSS * 1_024;
  process.stdout.write(`${JSON.stringify({ inputs, slowest, memory })}\n`);
}

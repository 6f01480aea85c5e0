// One reader, damaged files for so many seconds of the processor: `worker.js READER SEED SECONDS SCRATCH MOST [keep]`. What is
// being read lies in a file, so that it is known what ended the process, or what it still reads. Files that reach code
// which none has reached are damaged further; with `keep` they stay for the next time.
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { sep } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { keep, keptOf } from './corpus.ts';
import { coverageOf } from './coverage.ts';
import { diceOf, mutated } from './mutate.ts';
import { READERS } from './readers.ts';

const [, , name = '', seed = '1', seconds = '1', scratch = '', most = 'Infinity', keeps = ''] = process.argv;
const reader = READERS[name];
if (reader === undefined) throw new Error(`there is no reader ${name}`);

/** A turn of the event loop now and then: what nobody listens for is heard only there. */
const TURN = 16;
/** To ask what ran takes as long as some files: it is asked of so many, and of each alone where any was new. */
const BATCH = 64;

const dice = diceOf(Number(seed));
const held = openSync(`${scratch}.input`, 'w+');
let inputs = 0;
let slowest = 0;
const ours = [`${sep}dist${sep}src${sep}`, `${sep}dist${sep}properties${sep}`, `${sep}node_modules${sep}`];
const coverage = coverageOf((url) => url.startsWith('file:') && ours.some((part) => url.includes(part)));
const bases = [...reader.seeds()];
for (const each of bases) await reader.read(each, scratch);
coverage.add(coverage.take());
for (const each of keptOf(name)) {
  await read(each);
  bases.push(each);
}
coverage.add(coverage.take());
while (spent() < Number(seconds) && inputs < Number(most)) {
  const batch = Array.from({ length: Math.min(BATCH, Number(most) - inputs) }, () => mutated(bases, dice));
  for (const bytes of batch) await read(bytes);
  const ran = coverage.take();
  if (coverage.isNew(ran)) {
    await goOnFrom(batch);
    // What runs once only, as what is made at the first use, is no one's.
    coverage.add(ran);
  }
  tell();
}
await turn();
closeSync(held);
tell();

/** Each alone: those that reach what those before them did not. */
async function goOnFrom(batch: readonly Uint8Array[]): Promise<void> {
  for (const bytes of batch) {
    await read(bytes);
    const ran = coverage.take();
    if (!coverage.isNew(ran)) continue;
    coverage.add(ran);
    bases.push(bytes);
    if (keeps === 'keep') keep(name, bytes);
  }
}

async function read(bytes: Uint8Array): Promise<void> {
  ftruncateSync(held, 0);
  writeSync(held, bytes, 0, bytes.length, 0);
  const before = spent();
  await reader?.read(bytes, scratch);
  slowest = Math.max(slowest, 1_000 * (spent() - before));
  inputs++;
  if (inputs % TURN === 0) await turn();
}

/** Seconds of the processor, all threads together. */
function spent(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function tell(): void {
  const memory = process.resourceUsage().maxRSS * 1_024;
  process.stdout.write(
    `${JSON.stringify({ inputs, slowest, memory, seconds: spent(), reached: coverage.reached() })}\n`,
  );
}

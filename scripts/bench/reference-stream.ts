// 2 GB of logits through the row kernel in pieces, and the most memory that took. Exit code 1 above the bound.
//   npm run build && node dist/scripts/bench/reference-stream.js [cpu-f64|webgpu|tfjs-node-gpu]
import { existsSync } from 'node:fs';
import { BACKENDS, type BackendName, chooseKernel, numbersOf } from '../../src/kernel/index.ts';

const VOCAB = 151_936;
const TOTAL_BYTES = 2e9;
/** Of policy and reference together. */
const PIECE_BYTES = 128e6;
const MOST_RESIDENT_BYTES = 1.5e9;
const SOFTWARE_DRIVER = '/usr/lib/chromium/vk_swiftshader_icd.json';

const named = process.argv[2] ?? 'cpu-f64';
const backend = BACKENDS.find((name): name is BackendName => name === named);
if (backend === undefined) throw new Error(`unknown backend ${named}; known: ${BACKENDS.join(', ')}`);
if (process.env.VK_DRIVER_FILES === undefined && existsSync(SOFTWARE_DRIVER))
  process.env.VK_DRIVER_FILES = SOFTWARE_DRIVER;
const chosen = await chooseKernel(backend);
if ('problem' in chosen) throw new Error(chosen.problem);

const rows = Math.floor(PIECE_BYTES / (2 * Float32Array.BYTES_PER_ELEMENT * VOCAB));
const pieces = Math.ceil(TOTAL_BYTES / (2 * rows * VOCAB * Float32Array.BYTES_PER_ELEMENT));
const [policy, reference] = [new Float32Array(rows * VOCAB), new Float32Array(rows * VOCAB)];
let kl = 0;
let bytes = 0;
for (let piece = 0; piece < pieces; piece++) {
  // As a trainer's logits would come in: one piece overwrites the one before.
  for (let at = 0; at < policy.length; at++) {
    policy[at] = ((at * 2_654_435_761 + piece) % 1_000) / 100;
    reference[at] = ((at * 40_503 + piece) % 1_000) / 100;
  }
  const numbers = numbersOf(
    await chosen.kernel.rows({
      policy: { dtype: 'float32', data: policy },
      reference: { dtype: 'float32', data: reference },
      targets: Int32Array.from({ length: rows }, (_, row) => row),
      vocab: VOCAB,
      temperature: 1,
    }),
  );
  kl += numbers.kl.reduce((sum, value) => sum + value, 0);
  bytes += policy.byteLength + reference.byteLength;
}
await chosen.kernel.close();
const peak = process.resourceUsage().maxRSS * 1024;
console.log(
  `${chosen.why}: ${(bytes / 1e9).toFixed(2)} GB in ${pieces} pieces, mean KL ${(kl / (pieces * rows)).toFixed(6)}, ` +
    `peak resident memory ${(peak / 1e9).toFixed(2)} GB (bound ${MOST_RESIDENT_BYTES / 1e9} GB)`,
);
if (!(peak < MOST_RESIDENT_BYTES)) process.exitCode = 1;

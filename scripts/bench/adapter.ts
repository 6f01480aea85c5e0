// The row kernel on the adapter of this machine: the self-test, and the inputs where sums, indices and infinities go wrong
// first, each against cpu-f64. Exit code 1 where one is off. For machines without vitest: npm run bench:gpu-pack.
import { chooseKernel, difference, SELF_TEST_BAND } from '../../src/kernel/index.ts';
import { EDGES, halved, inputOf } from '../../test/kernel/inputs.ts';

const chosen = await chooseKernel('webgpu');
if ('problem' in chosen) {
  console.error(chosen.problem);
  process.exit(1);
}
console.log(`self-test: ${chosen.why}`);
const inputs = {
  ...EDGES,
  'half precision': () => halved(inputOf({ rows: 3, vocab: 777 })),
  'more than it takes at a time': () => inputOf({ rows: 600, vocab: 151_936 }),
};
for (const [name, make] of Object.entries(inputs)) {
  const off = await difference(chosen.kernel, make());
  const holds = off <= SELF_TEST_BAND;
  if (!holds) process.exitCode = 1;
  console.log(`${holds ? 'holds' : 'FAILS'}  ${name}: ${off.toExponential(1)} nats`);
}
await chosen.kernel.close();

// A harness that starts a trainer and is then ended from outside or by itself, or stops it and says what it still waits for;
// orphans.slow.test.ts looks who is left.
import { startTrainer } from '../../src/trainer/process.ts';

const [how = '', adapter = ''] = process.argv.slice(2);
const start = await startTrainer({ command: ['python3', adapter] });
if ('failure' in start) throw new Error(start.failure.message);
if (how === 'exit') process.exit(0);
if (how === 'stop') {
  await start.trainer.stop();
  process.stdout.write(`${process.getActiveResourcesInfo().join()}\n`);
  process.exit(0);
}
if (how === 'throw') setTimeout(() => Promise.reject(new Error('a bug in the harness')));
process.stdout.write('ready\n');
setInterval(() => {}, 1000);

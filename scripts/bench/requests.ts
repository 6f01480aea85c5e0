// How many requests the properties of a run need, and how many the trainer is sent: the rest are answers that others asked for.
//   npm run bench:requests [-- --write]      --write: into docs/benchmarks.md
import '../../src/cli/heap.ts';
import { properties } from '../../properties/index.ts';
import { loadTokenizer, run, startTrainer, type Trainer } from '../../src/index.ts';
import { pythonEnvironment } from '../python.ts';
import { openSheet } from './shared.ts';

const SEED = 1;
const CASES = 100;
const EXAMPLE = ['python3', '-m', 'lossproof.examples.left_padded'];

const started = await startTrainer({ command: EXAMPLE, env: pythonEnvironment() });
if ('failure' in started) throw new Error(started.failure.message);
const { trainer } = started;
const loaded = loadTokenizer(trainer.hello.tokenizer ?? '');
if ('problem' in loaded) throw new Error(loaded.problem);

let [needed, sent] = [0, 0];
const counted: Trainer = {
  ...trainer,
  ask(op, args, how) {
    sent++;
    // What is asked anew is looked up nowhere.
    if (how?.anew === true) needed++;
    return trainer.ask(op, args, how);
  },
  // Each look for a shared answer begins with the request's line.
  line(op, args) {
    needed++;
    return trainer.line(op, args);
  },
};
const results = await run(
  {
    trainer: counted,
    tokenizer: loaded.tokenizer,
    properties: properties.filter(({ level }) => level === 'must'),
    seed: SEED,
    cases: CASES,
    command: EXAMPLE.join(' '),
  },
  () => undefined,
);
await trainer.stop();

const { print, table, miss, end } = openSheet();
const failing = results.filter(({ verdict }) => verdict === 'fail' || verdict === 'error');
if (failing.length > 0) miss(`${failing.map(({ id }) => id).join(' ')}: the example is right`);
print(`The bundled example, ${CASES} cases, seed ${SEED}, without the profile:`);
print('');
table(
  ['properties', 'requests they need', 'requests sent', 'share'],
  [[`${results.length}`, `${needed}`, `${sent}`, (sent / needed).toFixed(2)]],
);
end('requests');

// Every trainer that is right: the examples, all conventions in Python, and the legal object trainers of the
// tests; and how one of them is judged, which is how the command judges: measured first, then checked.
import { execaSync } from 'execa';
import { measureUndeclared } from '../src/check/profile/undeclared.ts';
import {
  loadTokenizer,
  type Property,
  type PropertyResult,
  run,
  type Semantics,
  startTrainer,
  type Tokenizer,
  type Trainer,
} from '../src/index.ts';
import { batches } from '../test/teeth/legal/batches.ts';
import { critics } from '../test/teeth/legal/critic.ts';
import { dialogues } from '../test/teeth/legal/dialogues.ts';
import { fullKls } from '../test/teeth/legal/full-kl.ts';
import { scorers } from '../test/teeth/legal/models.ts';
import { numbers } from '../test/teeth/legal/numbers.ts';
import { pairs } from '../test/teeth/legal/pairs.ts';
import { pipelines } from '../test/teeth/legal/pipelines.ts';
import { plainChats } from '../test/teeth/legal/plain-chats.ts';
import { samplers } from '../test/teeth/legal/sampling.ts';
import { settings } from '../test/teeth/legal/settings.ts';
import { steps } from '../test/teeth/legal/steps.ts';
import { texts } from '../test/teeth/legal/texts.ts';
import { truncation } from '../test/teeth/legal/truncation.ts';
import { turns } from '../test/teeth/legal/turns.ts';
import { unusual } from '../test/teeth/legal/unusual.ts';
import { pythonEnvironment } from './python.ts';

export interface Correct {
  readonly name: string;
  /** Whoever opens it stops it. */
  readonly open: () => Promise<Opened>;
}

export interface Opened {
  readonly trainer: Trainer;
  readonly tokenizer: Tokenizer | undefined;
}

export const EXAMPLES: readonly Correct[] = [
  'left_padded',
  'right_padded',
  'stop_excluded',
  'data_parallel',
].map((name) => ({
  name,
  open: () => openPython([`lossproof.examples.${name}`]),
}));

/** A convention, as `--list` says it. */
export interface Convention {
  readonly name: string;
  /** What it does, declared or not. */
  readonly is: Semantics;
}

export function conventions(): (Correct & Convention)[] {
  const { stdout } = execaSync('python3', ['-m', CONVENTIONS, '--list'], { env: pythonEnvironment() });
  return (JSON.parse(stdout) as Convention[]).map((convention) => ({
    ...convention,
    open: () => openPython([CONVENTIONS, convention.name]),
  }));
}

export const LEGAL: readonly Correct[] = [
  ...batches,
  ...pairs,
  ...samplers,
  ...fullKls,
  ...critics,
  ...numbers,
  ...scorers,
  ...pipelines,
  ...settings,
  ...steps,
  ...texts,
  ...dialogues,
  ...plainChats,
  ...turns,
  ...truncation,
  ...unusual,
].map(({ name, trainer, tokenizer }) => ({ name, open: async () => ({ trainer, tokenizer }) }));

/** One run of these properties. */
export type Judge = (
  properties: readonly Property[],
  seed: number,
  cases: number,
) => Promise<readonly PropertyResult[]>;

/** A trainer opened, and measured once as `check` measures it, for as long as it is judged. */
export async function whileOpen<T>(correct: Correct, use: (judge: Judge) => Promise<T>): Promise<T> {
  const { trainer, tokenizer } = await correct.open();
  try {
    const semantics = await measureUndeclared({ trainer, tokenizer });
    return await use((properties, seed, cases) =>
      run(
        {
          trainer,
          tokenizer,
          semantics,
          properties,
          seed,
          cases,
          command: 'correct',
          shrinkMilliseconds: SHRINK_MILLISECONDS,
        },
        () => undefined,
      ),
    );
  } finally {
    await trainer.stop();
  }
}

/** Enough for a small case; an alarm is to be read, not to be waited for. */
const SHRINK_MILLISECONDS = 5_000;

/** One line for each alarm, with the case that raised it, and for each label that is thinner than promised. */
export function alarmsOf(results: readonly PropertyResult[]): string[] {
  return results.flatMap(({ id, verdict, failure, thin }) => {
    const why = failure?.finding?.sentence ?? failure?.trainerFailure?.message;
    const alarm = `${id} ${verdict}s: ${why} ${JSON.stringify(failure?.given)}`;
    return [
      ...(verdict === 'fail' || verdict === 'error' ? [alarm] : []),
      ...thin.map(({ label, share, least }) => `${id} is thin: "${label}" ${share}, promised ${least}`),
    ];
  });
}

const CONVENTIONS = 'lossproof.examples.conventions';

async function openPython(args: readonly string[]): Promise<Opened> {
  const started = await startTrainer({ command: ['python3', '-m', ...args] });
  if ('failure' in started) throw new Error(`${args.join(' ')}: ${started.failure.message}`);
  const { trainer } = started;
  const folder = trainer.hello.tokenizer;
  if (folder === undefined) return { trainer, tokenizer: undefined };
  const loaded = loadTokenizer(folder);
  if ('problem' in loaded) throw new Error(loaded.problem);
  return { trainer, tokenizer: loaded.tokenizer };
}

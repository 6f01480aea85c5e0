// What stands in `expect(...)`: a trainer in any of the ways to have one, told apart when the test runs.
import type { TrainerFailure } from '../../trainer/failure.ts';
import { type ObjectTrainerSpec, objectTrainer } from '../../trainer/object.ts';
import type { Trainer } from '../../trainer/trainer.ts';
import { isProblem, type Problem, whyOf } from '../context.ts';
import { splitCommand } from '../trainer/words.ts';
import { bareSetting, type OpenTrainer, openSetting, type Setting } from './setting.ts';

/**
 * A trainer that is there (`openTrainer`, `objectTrainer`, or what `startTrainer` answers), or one to be started for
 * this and stopped: a command as one text or as words, or the hello and ops of an object.
 */
export type Holdable =
  | Trainer
  | OpenTrainer
  | { readonly trainer: Trainer }
  | { readonly failure: TrainerFailure }
  | ObjectTrainerSpec
  | string
  | readonly string[];

export interface Received {
  readonly setting: Setting;
  /** Stops what was started for this alone. */
  readonly done: () => Promise<void>;
}

/** The trainer that stands in `expect(...)`, with its setting; a problem where there is none. `done` ends what was started for it. */
export async function receive(value: unknown): Promise<Received | Problem> {
  if (typeof value === 'string' || Array.isArray(value)) return await started(value);
  if (typeof value !== 'object' || value === null) return { problem: `${String(value)} ${NO_TRAINER}` };
  if (value instanceof Promise) return { problem: 'a promise is no trainer yet: await it inside expect()' };
  const given = value as Partial<OpenTrainer & ObjectTrainerSpec> & {
    readonly trainer?: Trainer;
    readonly failure?: TrainerFailure;
  };
  if (given.failure !== undefined) {
    const { message, advice, stderrTail = '' } = given.failure;
    return { problem: ['the trainer did not start', message, advice, stderrTail].join('\n').trimEnd() };
  }
  if (given.setting !== undefined) return { setting: given.setting, done: nothing };
  if (given.trainer !== undefined) return remembered(given.trainer);
  if (typeof given.ask === 'function') return remembered(given as Trainer);
  if (given.hello !== undefined && given.ops !== undefined) return ofObject(given as ObjectTrainerSpec);
  return { problem: `an object with ${Object.keys(value).join(', ') || 'nothing in it'} ${NO_TRAINER}` };
}

const NO_TRAINER =
  'is no trainer; give expect() what openTrainer, objectTrainer or startTrainer gave, or a command';

const nothing = async (): Promise<void> => {};

async function started(command: string | readonly string[]): Promise<Received | Problem> {
  const words = typeof command === 'string' ? splitCommand(command) : command;
  if (isProblem(words)) return words;
  // No words would mean the trainer of the configuration, and are more likely a mistake.
  if (words.length === 0) return { problem: 'the command is empty' };
  const setting = await openSetting(words, {});
  return isProblem(setting) ? setting : { setting, done: () => setting.trainer.stop() };
}

function ofObject(spec: ObjectTrainerSpec): Received | Problem {
  try {
    return remembered(objectTrainer(spec));
  } catch (error) {
    return { problem: whyOf(error) };
  }
}

/** What was measured of a trainer holds for its next assertion, too. */
const settings = new WeakMap<Trainer, Setting>();

function remembered(trainer: Trainer): Received | Problem {
  const setting = settings.get(trainer) ?? bareSetting(trainer);
  if (isProblem(setting)) return setting;
  settings.set(trainer, setting);
  return { setting, done: nothing };
}

// Which trainer is meant, in one place for every command and for test runners: what is typed, then the
// configuration, then LOSSPROOF_TRAINER. Nobody is checked who was not named: a green run of the bundled example in a
// wrong folder would be taken for one of the user's trainer.
import { isAbsolute, relative, resolve } from 'node:path';
import { nearestName } from '../../protocol/nearest.ts';
import { quoted } from '../../report/failure/reproduce.ts';
import type { TrainerFailure } from '../../trainer/failure.ts';
import { type ObjectTrainerSpec, objectTrainer } from '../../trainer/object.ts';
import { type TrainerOptions as ProcessOptions, startTrainer } from '../../trainer/process.ts';
import type { Trainer } from '../../trainer/trainer.ts';
import { PYTHON_FOLDER } from '../../version.ts';
import type { LoadedConfig } from '../config/config.ts';
import type { Config } from '../config/define.ts';
import { type Context, isProblem, type Problem, whyOf } from '../context.ts';
import { ADAPTER_NAMES, ADAPTERS } from './adapters.ts';
import { environmentTrouble } from './environment.ts';
import { findOwnPython, findPython, pythonPathPrefix } from './python.ts';
import { trainingScriptAdvice } from './training-script.ts';
import { joinCommand, splitCommand } from './words.ts';

export interface AskedTrainer {
  /** The words behind `--`. */
  readonly command?: readonly string[];
  readonly adapter?: string | undefined;
  readonly python?: string | undefined;
  /** Absolute; ready-made adapters build their model around it. */
  readonly tokenizer?: string | undefined;
  /** The bundled example is meant. */
  readonly bundled?: boolean | undefined;
}

/** What is meant where nothing names a trainer; `bundled` is the bundled example. */
export type Otherwise = TrainerChoice | 'bundled';

export type TrainerChoice =
  | {
      readonly kind: 'command';
      readonly command: readonly string[];
      readonly cwd: string;
      readonly from: 'typed' | 'config' | 'environment' | 'bundled';
    }
  | {
      readonly kind: 'object';
      readonly spec: ObjectTrainerSpec;
      readonly file: string;
      readonly from: 'config';
    };

/** How a process is treated, beside what it is. */
export interface Deadlines extends Pick<ProcessOptions, 'helloMilliseconds' | 'opMilliseconds' | 'renew'> {
  /** Variables over those of this process: which GPUs a worker sees. */
  readonly env?: Readonly<Record<string, string>>;
}

type Place = Pick<Context, 'cwd' | 'env'>;

const BUNDLED_EXAMPLE = 'lossproof.examples.left_padded';

/** Whether a command looks like that of the bundled example. It says nothing of what else the command runs. */
export function isBundled(command: readonly string[]): boolean {
  return command.at(-1) === BUNDLED_EXAMPLE;
}

/** The trainer that these options mean. A problem where they mean none, unless `otherwise` says who it is then. */
export function chooseTrainer(
  asked: AskedTrainer,
  loaded: LoadedConfig | undefined,
  place: Place,
  otherwise?: Otherwise,
): TrainerChoice | Problem {
  const { cwd, env } = place;
  const bundled = (): TrainerChoice => bundledExample(asked.python, place);
  const typed = asked.command !== undefined && asked.command.length > 0;
  if (asked.bundled) {
    const other = typed ? 'a trainer after --' : asked.adapter === undefined ? undefined : 'an --adapter';
    return other === undefined ? bundled() : { problem: `name ${other} or say --bundled, not both` };
  }
  if (asked.command !== undefined && typed) {
    if (asked.adapter !== undefined) return { problem: 'name a trainer after -- or an --adapter, not both' };
    return { kind: 'command', command: asked.command, cwd, from: 'typed' };
  }
  const adapter = (name: string, folder: string, from: 'typed' | 'config'): TrainerChoice | Problem => {
    const python = pythonOf(asked, loaded, place);
    if (typeof python !== 'string') return python;
    const command = adapterCommand(name, python, asked.tokenizer);
    return isProblem(command) ? command : { kind: 'command', command, cwd: folder, from };
  };
  if (asked.adapter !== undefined) return adapter(asked.adapter, cwd, 'typed');
  if (loaded?.config.adapter !== undefined) return adapter(loaded.config.adapter, loaded.folder, 'config');
  const written = loaded === undefined ? undefined : configChoice(loaded);
  if (written !== undefined) return written;
  if (env.LOSSPROOF_TRAINER) {
    const words = splitCommand(env.LOSSPROOF_TRAINER);
    if (isProblem(words)) return { problem: `LOSSPROOF_TRAINER: ${words.problem}` };
    return { kind: 'command', command: words, cwd, from: 'environment' };
  }
  if (otherwise === 'bundled') return bundled();
  return otherwise ?? nobody(loaded);
}

/** `python -m` imports from where it runs before all else: a folder of others could stand in for any module. */
export function bundledExample(python: string | undefined, place: Place): TrainerChoice {
  const command = [findOwnPython(python, place), '-m', BUNDLED_EXAMPLE];
  return { kind: 'command', command, cwd: PYTHON_FOLDER, from: 'bundled' };
}

/** Every way to name one, in a few lines. */
function nobody(loaded: LoadedConfig | undefined): Problem {
  const looked =
    loaded === undefined
      ? 'and no lossproof.config.* stands in this folder or above it'
      : `and ${loaded.file} names none`;
  const ways = [
    ['-- python adapter.py', 'after all options: the command of your adapter'],
    ['--adapter trl-sft', `a ready-made adapter: ${ADAPTER_NAMES.join(', ')}`],
    ['npx lossproof init', 'writes adapter.py, and a lossproof.config.json that names it'],
    ['LOSSPROOF_TRAINER=...', 'the command, in the environment'],
    ['--bundled', 'the bundled example, which is not your trainer'],
  ] as const;
  const width = Math.max(...ways.map(([typed]) => typed.length));
  const lines = ways.map(([typed, meant]) => `  ${typed.padEnd(width)}  ${meant}`);
  return { problem: [`no trainer is named, ${looked}. Name one:`, ...lines].join('\n') };
}

/** Starts it and waits for its hello. */
export async function startChosen(
  choice: TrainerChoice,
  deadlines: Deadlines,
  onStart?: (giveUp: () => void) => void,
): Promise<{ readonly trainer: Trainer } | { readonly failure: TrainerFailure }> {
  if (choice.kind === 'object') {
    try {
      return { trainer: objectTrainer(choice.spec) };
    } catch (error) {
      return {
        failure: { kind: 'start', message: whyOf(error), advice: `Correct the trainer in ${choice.file}.` },
      };
    }
  }
  const started = await startTrainer({ command: choice.command, cwd: choice.cwd, ...deadlines }, onStart);
  if (!('failure' in started)) return started;
  const trouble =
    started.failure.kind === 'start' ? environmentTrouble(choice.command, choice.cwd) : undefined;
  if (trouble !== undefined) return { failure: { ...started.failure, ...trouble } };
  const advice = trainingScriptAdvice(choice.command, choice.cwd);
  return advice === undefined ? started : { failure: { ...started.failure, advice } };
}

/** The trainer as it is said and saved: a shell command, or '' for one in this process. */
export function commandOf(choice: TrainerChoice): string {
  return choice.kind === 'object' ? '' : joinCommand(choice.command);
}

/** The shell line that a file of requests can be piped into, from the user's folder; undefined where there is none. */
export function pipeLine(choice: TrainerChoice, place: Place): string | undefined {
  if (choice.kind === 'object') return undefined;
  const line = pythonPathPrefix(choice.command, place) + joinCommand(choice.command);
  // The example reads nothing of its folder.
  if (choice.cwd === place.cwd || choice.from === 'bundled') return line;
  return `(cd ${quoted(relative(place.cwd, choice.cwd))} && ${line})`;
}

function configChoice({ config, folder, file }: LoadedConfig): TrainerChoice | Problem | undefined {
  const { trainer } = config;
  if (trainer === undefined) return undefined;
  if (isObject(trainer)) return { kind: 'object', spec: trainer, file, from: 'config' };
  const words = typeof trainer === 'string' ? splitCommand(trainer) : trainer;
  if (isProblem(words)) return { problem: `${file}: ${words.problem}` };
  return { kind: 'command', command: words, cwd: folder, from: 'config' };
}

function isObject(trainer: NonNullable<Config['trainer']>): trainer is ObjectTrainerSpec {
  return typeof trainer === 'object' && !Array.isArray(trainer);
}

/** The tokenizer goes along as a variable of the command itself, so that a saved command is whole. */
function adapterCommand(
  name: string,
  python: string,
  tokenizer: string | undefined,
): readonly string[] | Problem {
  const ready = Object.hasOwn(ADAPTERS, name) ? ADAPTERS[name] : undefined;
  if (ready !== undefined) {
    const variables = tokenizer === undefined ? [] : ['env', `LOSSPROOF_TOKENIZER=${tokenizer}`];
    return [...variables, python, '-m', ready.module];
  }
  const near = nearestName(name, ADAPTER_NAMES);
  const hint = near === undefined ? `ready-made are ${ADAPTER_NAMES.join(', ')}` : `did you mean "${near}"?`;
  return { problem: `no adapter is called "${name}", ${hint}` };
}

/** The Python that is meant where none is written in a command. */
export function pythonOf(
  asked: Pick<AskedTrainer, 'python'>,
  loaded: LoadedConfig | undefined,
  place: Place,
): string | Problem {
  if (asked.python !== undefined) return findPython(asked.python, place);
  const written = loaded?.config.python;
  if (written === undefined || loaded === undefined) return findPython(undefined, place);
  return /[/\\]/.test(written) && !isAbsolute(written) ? resolve(loaded.folder, written) : written;
}

// What is meant before anything is started: options, configuration and the choice of a trainer, together.
import { relative, resolve } from 'node:path';
import { isModule, type LoadedConfig, loadConfig } from '../config/config.ts';
import type { Combination } from '../config/matrix.ts';
import type { Place } from '../consent/consent.ts';
import { isProblem, type Problem } from '../context.ts';
import { chooseTrainer, type Otherwise, type TrainerChoice } from '../trainer/trainer.ts';
import { type Meant, meantBy, type NamingOptions, severalMeant } from './several.ts';

/** The options of every command that starts a trainer. */
export interface TrainerOptions extends NamingOptions {
  readonly python?: string;
  readonly tokenizer?: string;
  readonly config?: string;
  readonly opTimeout?: number;
  readonly helloTimeout?: number;
  /** A fresh process after so many requests, */
  readonly renewAfter?: number;
  /** or above so many GB of memory. */
  readonly renewAbove?: number;
}

export interface Plan {
  readonly options: TrainerOptions;
  readonly loaded: LoadedConfig | undefined;
  readonly choice: TrainerChoice;
  /** Absolute, where the user names a tokenizer; it wins over the one that the trainer declares. */
  readonly tokenizer: string | undefined;
  /** Variables of each worker's own, the first one's first; absent: all have those of this process. */
  readonly environments?: readonly Readonly<Record<string, string>>[];
  /** Where the configuration has several: which of them this is. */
  readonly name?: string;
}

/**
 * Reads the configuration and chooses the trainer; `command` are the words behind `--`. What the configuration says is
 * said of the user's trainer: for the bundled example it is not read. Where nothing names one, `otherwise` is meant; where
 * the configuration names several, `--trainer` must say which.
 */
export async function makePlan(
  options: TrainerOptions,
  command: readonly string[],
  place: Place,
  otherwise?: Otherwise,
): Promise<Plan | Problem> {
  const meant = await readMeant(options, command, place);
  if (isProblem(meant)) return meant;
  const { loaded, combinations } = meant;
  const [one] = combinations ?? [];
  if (combinations !== undefined && (one === undefined || combinations.length > 1))
    return severalMeant(meant);
  const plan =
    one === undefined
      ? planOf(options, command, loaded, place, otherwise)
      : planOf(options, command, oneOf(meant, one), place, otherwise, one.name);
  if (!isProblem(plan)) sayWhose(plan, place);
  return plan;
}

export interface Plans {
  readonly plans: readonly Plan[];
  /** What of a matrix does not hold for whom. */
  readonly notes: readonly string[];
}

/** A plan for each trainer that is meant. */
export async function makePlans(
  options: TrainerOptions & { readonly all?: boolean },
  command: readonly string[],
  place: Place,
): Promise<Plans | Problem> {
  if (options.all === true && options.trainer !== undefined)
    return { problem: '--all means every trainer of the configuration, and --trainer some; say one of them' };
  const meant = await readMeant(options, command, place);
  if (isProblem(meant)) return meant;
  const { loaded, combinations, typed, notes } = meant;
  if (options.all === true && typed !== undefined)
    return { problem: `--all means the trainers of the configuration; leave it out, or ${typed}` };
  if (combinations === undefined) {
    const plan = planOf(options, command, loaded, place);
    if (isProblem(plan)) return plan;
    sayWhose(plan, place);
    return { plans: [plan], notes: [] };
  }
  if (combinations.length > 1 && options.all !== true && options.trainer === undefined)
    return severalMeant(meant, '--all checks them all');
  const plans: Plan[] = [];
  for (const each of combinations) {
    const plan = planOf(options, command, oneOf(meant, each), place, undefined, each.name);
    if (isProblem(plan)) return { problem: `${each.name}: ${plan.problem}` };
    plans.push(plan);
  }
  if (plans[0] !== undefined) sayWhose(plans[0], place);
  return { plans, notes };
}

async function readMeant(
  options: TrainerOptions,
  command: readonly string[],
  place: Place,
): Promise<Meant | Problem> {
  const { bundled = false } = options;
  if (bundled && options.config !== undefined)
    return { problem: '--config and --bundled cannot be combined: --bundled runs the example trainer' };
  const named = options.config === undefined ? undefined : resolve(place.cwd, options.config);
  const loaded = bundled ? undefined : await loadConfig(place, named);
  if (loaded !== undefined && isProblem(loaded)) return loaded;
  return meantBy(options, command, loaded);
}

/** A command that a file names is not started without naming the file; a module was named when it was run. */
function sayWhose({ choice, loaded }: Plan, { cwd, err }: Place): void {
  if (choice.from === 'config' && loaded !== undefined && !isModule(loaded.file))
    err?.write(`lossproof: the trainer is that of ${relative(cwd, loaded.file)}\n`);
}

/** The configuration as this combination has it. */
function oneOf({ loaded }: Meant, { config }: Combination): LoadedConfig | undefined {
  return loaded === undefined ? undefined : { ...loaded, config };
}

function planOf(
  options: TrainerOptions,
  command: readonly string[],
  loaded: LoadedConfig | undefined,
  place: Place,
  otherwise?: Otherwise,
  name?: string,
): Plan | Problem {
  const tokenizer = namedTokenizer(options, loaded, place.cwd);
  const { adapter, python, bundled } = options;
  const choice = chooseTrainer({ command, adapter, python, tokenizer, bundled }, loaded, place, otherwise);
  if (isProblem(choice)) return choice;
  return { options, loaded, choice, tokenizer, ...(name === undefined ? {} : { name }) };
}

/** Absolute: what is typed, or what is written in the configuration, from where that lies. */
export function namedTokenizer(
  options: Pick<TrainerOptions, 'tokenizer'>,
  loaded: LoadedConfig | undefined,
  cwd: string,
): string | undefined {
  if (options.tokenizer !== undefined) return resolve(cwd, options.tokenizer);
  const written = loaded?.config.tokenizer;
  return written === undefined || loaded === undefined ? undefined : resolve(loaded.folder, written);
}

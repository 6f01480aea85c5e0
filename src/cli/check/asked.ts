// What a run of `check` asks of one trainer: properties, known failures, and whether its options mean anything together.
import type { Property } from '../../check/property.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { gpusOfWorkers, thisMachine, visibleGpus } from '../trainer/devices.ts';
import { roomHere, type WorkersAsked, workersInMemory } from '../trainer/memory.ts';
import { type Chosen, type ChosenKnown, chosenProperties, knownFor } from './chosen.ts';
import type { CheckOptions } from './options.ts';
import type { Plan } from './plan.ts';

export interface Asked extends Chosen {
  readonly plan: Plan;
  readonly known: ChosenKnown;
  /** Absent: one judges all. */
  readonly workers?: WorkersAsked;
}

/** One for each plan; what is wrong with one of several is said of its name. */
export function askedOfEach(
  plans: readonly Plan[],
  options: CheckOptions,
  catalogue: readonly Property[],
  context: Context,
): readonly Asked[] | Problem {
  const all: Asked[] = [];
  for (const plan of plans) {
    const one = askedOf(plan, options, catalogue, context);
    if (isProblem(one)) return plans.length === 1 ? one : { problem: `${plan.name}: ${one.problem}` };
    all.push(one);
  }
  return (all.length > 1 ? conflictOfSeveral(options, all) : undefined) ?? all;
}

function askedOf(
  plan: Plan,
  options: CheckOptions,
  catalogue: readonly Property[],
  context: Context,
): Asked | Problem {
  const chosen = chosenProperties(options, plan.loaded, catalogue);
  if (isProblem(chosen)) return chosen;
  const known = knownFor(options, plan, context.cwd, options.updateKnown);
  if (isProblem(known)) return known;
  if (options.updateKnown === true && known.file === undefined)
    return { problem: '--update-known needs --known <file>, or `known` in the configuration' };
  const conflict = conflictOf(options, plan);
  if (conflict !== undefined) return conflict;
  const workers = workersOf(options, chosen.properties.length);
  if (workers !== undefined && isProblem(workers)) return workers;
  const gpus = gpusOf(options, workers, context);
  if (isProblem(gpus)) return gpus;
  return { ...chosen, plan: { ...plan, ...gpus }, known, ...(workers === undefined ? {} : { workers }) };
}

/** As many as fit into memory, where it is said what each takes. */
function workersOf(
  { ray, workers, memoryPerWorker }: CheckOptions,
  properties: number,
): WorkersAsked | Problem | undefined {
  // On a cluster it is the memory of its nodes.
  if (workers === undefined || ray !== undefined) return undefined;
  if (memoryPerWorker === undefined) return { count: workers };
  return workersInMemory(workers, memoryPerWorker, properties, roomHere());
}

/** Each worker's share of the GPUs. */
function gpusOf(
  { ray, gpusPerWorker }: CheckOptions,
  workers: WorkersAsked | undefined,
  { env }: Context,
): Pick<Plan, 'environments'> | Problem {
  // On a cluster they are those of its nodes.
  if (gpusPerWorker === undefined || ray !== undefined) return {};
  const environments = gpusOfWorkers(workers?.count ?? 1, gpusPerWorker, visibleGpus(thisMachine(env)));
  return isProblem(environments) ? environments : { environments };
}

/** Options that together mean nothing, or something else than is thought. */
function conflictOf(options: CheckOptions, { choice }: Plan): Problem | undefined {
  if (options.shard !== undefined && options.seed === undefined && options.resume === undefined)
    return { problem: '--shard needs --seed: all parts of a run draw their cases from the same one' };
  if (options.shard !== undefined && options.updateKnown === true)
    return { problem: '--update-known needs the whole run; a part of it has not seen everything' };
  const processes =
    options.workers !== undefined && options.workers > 1
      ? '--workers'
      : options.gpusPerWorker === undefined
        ? undefined
        : '--gpus-per-worker';
  if (processes !== undefined && choice.kind === 'object')
    return {
      problem: `${processes} starts processes, and the trainer of ${choice.file} is an object in this one`,
    };
  return undefined;
}

/** What holds for one run only. */
function conflictOfSeveral(options: CheckOptions, all: readonly Asked[]): Problem | undefined {
  const one = 'several trainers are meant; name one by --trainer';
  if (options.resume !== undefined) return { problem: `--resume goes on with one run, and ${one}` };
  if (options.shard !== undefined) return { problem: `--shard is a part of one run, and ${one}` };
  const files = all.map(({ known }) => known.file);
  if (options.updateKnown === true && new Set(files).size < files.length)
    return {
      problem: `--update-known would write one file for several trainers; give each a \`known\` of its own, or name one by --trainer`,
    };
  return undefined;
}

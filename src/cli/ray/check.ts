// From what `check` has read of a command line to a run on Ray, and from the files of its shards to one verdict.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { openCorpus } from '../../check/saved/corpus.ts';
import { VERSION } from '../../version.ts';
import type { Asked } from '../check/asked.ts';
import type { TrainerOptions } from '../check/plan.ts';
import { rememberCommand } from '../consent/consent.ts';
import { type Context, isProblem, refuse, say } from '../context.ts';
import { seedOfEnvironment } from '../options.ts';
import { type MergeOptions, mergeParts, readParts } from '../outputs/merge.ts';
import { openOutputs } from '../outputs/outputs.ts';
import { casesFolder } from '../trainer/cases-folder.ts';
import { replayOf, sayBundled } from '../trainer/session.ts';
import { commandOf, pythonOf } from '../trainer/trainer.ts';
import { jobOf } from './job.ts';
import { keepCases } from './keep.ts';
import type { RayOptions } from './options.ts';
import { runOnRay } from './ray.ts';

type OnRayOptions = TrainerOptions &
  RayOptions &
  MergeOptions & { readonly ray: string; readonly corpus: boolean; readonly seed?: number };

/** `rest` are the words behind `--`. */
export async function checkOnRay(
  options: OnRayOptions,
  command: Command,
  rest: readonly string[],
  [one, ...others]: readonly Asked[],
  context: Context,
): Promise<number> {
  if (one === undefined || others.length > 0)
    return refuse(context, {
      problem: '--ray is one run, and several trainers are meant; name one by --trainer',
    });
  const { plan } = one;
  const { loaded } = plan;
  const seed = options.seed ?? seedOfEnvironment(context.env);
  const asked = { options, command, rest, loaded, seed, properties: one.properties.length };
  const job = jobOf({ ...asked, address: options.ray }, context);
  if (isProblem(job)) return refuse(context, job);
  const python = pythonOf(options, loaded, context);
  if (typeof python !== 'string') return refuse(context, python);
  const outputs = openOutputs(options, context);
  if (isProblem(outputs)) return refuse(context, outputs);
  if (outputs.onStandardOutput)
    return refuse(context, {
      problem: 'standard output has the table of the run; name a file instead of -',
    });
  say(context, `lossproof ${VERSION} · seed ${seed}`);
  sayBundled(plan, context);
  return runOnRay(
    {
      job,
      python,
      quiet: options.quiet === true,
      finish: async (files) => {
        const parts = readParts(files, context);
        if (isProblem(parts)) return refuse(context, parts);
        const kept = options.corpus && loaded?.config.corpus !== false;
        if (kept) rememberCommand(commandOf(plan.choice), context);
        if (kept)
          say(
            context,
            ...keepCases(
              parts.map(({ run }) => run),
              openCorpus(resolve(context.cwd, casesFolder(plan.name))),
              plan.name,
            ),
          );
        // Seen again from here, not from the folder that a node had.
        const replay = replayOf(plan, context, kept);
        const here = parts.map(({ run, name }) => ({
          name,
          run: { ...run, start: { ...run.start, replay } },
        }));
        return mergeParts(here, options, context);
      },
    },
    context,
  );
}

// What record, check and accept have in common: where the files are, which entries are meant, and the trainer's side of it.
import { resolve } from 'node:path';
import { worldOf } from '../../check/run.ts';
import { goldenCases } from '../../golden/cases/index.ts';
import type { GoldenFile } from '../../golden/file.ts';
import { tokenizerPrint } from '../../golden/fingerprint.ts';
import { readGolden } from '../../golden/folder.ts';
import type { Asking } from '../../golden/record.ts';
import { idsOfRun } from '../../golden/run.ts';
import { nearestName } from '../../protocol/nearest.ts';
import { quoted } from '../../report/failure/reproduce.ts';
import type { Plan, TrainerOptions } from '../check/plan.ts';
import { fits } from '../check/select.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { tokenizerFolder } from '../trainer/open.ts';
import type { Session } from '../trainer/session.ts';
import { joinCommand } from '../trainer/words.ts';

export interface GoldenOptions extends TrainerOptions {
  readonly dir: string;
  readonly only?: readonly string[];
}

/** Under the working directory. */
export const GOLDEN_FOLDER = 'golden';

export interface Recorded {
  /** Absolute. */
  readonly folder: string;
  readonly files: readonly GoldenFile[];
}

export function openFolder({ dir }: GoldenOptions, { cwd }: Context): Recorded | Problem {
  const folder = resolve(cwd, dir);
  const read = readGolden(folder);
  return isProblem(read) ? read : { folder, files: read.files };
}

/** The trainer with all that a golden case may know of it; every entry is meant. */
export function askingOf({ plan, trainer, tokenizer, semantics, interrupts }: Session): Asking {
  const folder = tokenizerFolder(plan, trainer);
  return {
    trainer,
    world: worldOf(trainer, tokenizer, semantics),
    tokenizer: folder === undefined ? undefined : tokenizerPrint(folder),
    cases: goldenCases,
    wanted: () => true,
    signal: interrupts.signal,
  };
}

/** The ids that these names mean, of all that are recorded or could be. A name that means none is a problem. */
export function namedIds(
  names: readonly string[],
  asking: Asking,
  files: readonly GoldenFile[],
): ReadonlySet<string> | Problem {
  const ids = idsOfRun({ ...asking, files });
  const stages = [...new Set(ids.map((id) => id.split('/')[0] ?? id))];
  for (const name of names) {
    if (ids.some((id) => fits(id, name))) continue;
    const near = nearestName(name, name.includes('/') ? ids : stages) ?? nearestName(name, ids);
    const hint = near === undefined ? `stages are ${stages.join(', ')}` : `did you mean "${near}"?`;
    return { problem: `no golden entry is called "${name}", ${hint}` };
  }
  return new Set(ids.filter((id) => names.some((name) => fits(id, name))));
}

/** The same trainer again, by a command of golden: `npx lossproof golden accept ID -- python adapter.py`. */
export function goldenLine(
  words: readonly string[],
  { dir }: GoldenOptions,
  { choice, options }: Plan,
): string {
  const named = ['adapter', 'python', 'tokenizer', 'config'] as const;
  const typed = named.flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
  const folder = dir === GOLDEN_FOLDER ? [] : ['--dir', dir];
  const command =
    choice.kind === 'command' && choice.from === 'typed' && options.adapter === undefined
      ? ` -- ${joinCommand(choice.command)}`
      : '';
  const trainer = [options.trainer ?? []].flat().flatMap((name) => ['--trainer', name]);
  return (
    ['npx lossproof golden', ...[...words, ...folder, ...trainer, ...typed].map(quoted)].join(' ') + command
  );
}

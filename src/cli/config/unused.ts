// A name of a matrix that changes nothing about any trainer: its runs would be the same run under several names.
import { nearestName } from '../../protocol/nearest.ts';
import type { Problem } from '../context.ts';
import type { Config, TrainerConfig } from './define.ts';
import { keyOf, SETTABLE, saysItself } from './fill.ts';

/** `used`: what any trainer is varied by. */
export function unusedName(
  matrix: NonNullable<Config['matrix']>,
  used: ReadonlySet<string>,
  entries: readonly TrainerConfig[],
): Problem | undefined {
  const name = Object.keys(matrix).find((each) => !used.has(each));
  return name === undefined ? undefined : { problem: `matrix.${name} ${whyUnused(name, entries)}` };
}

function whyUnused(name: string, entries: readonly TrainerConfig[]): string {
  if (name === 'trainer') return 'cannot be: several trainers are named in `trainers`';
  const key = keyOf(name);
  if (key !== undefined)
    return entries.every((entry) => saysItself(entry, key))
      ? `changes nothing: every trainer has a ${name} of its own`
      : 'changes nothing: only an adapter is started with it';
  const near = nearestName(name, SETTABLE);
  return near === undefined
    ? `is used nowhere: write {${name}} into the command of a trainer, or name a key, such as tokenizer or level`
    : `is used nowhere, did you mean "${near}"?`;
}

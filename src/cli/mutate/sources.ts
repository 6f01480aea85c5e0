// What is changed where nobody says it: of a user's adapter what it imports of its own project, of those that are ready-made the
// trainer that they drive.
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../version.ts';
import { ADAPTERS, adapterOf } from '../trainer/adapters.ts';
import { isBundled, type TrainerChoice } from '../trainer/trainer.ts';

const EXAMPLES = join(PACKAGE_ROOT, 'src', 'python', 'lossproof', 'examples', '**', '*.py');

/** Nothing: the adapter's own project. */
export function sourcesOf(typed: readonly string[] | undefined, choice: TrainerChoice): readonly string[] {
  if (typed !== undefined) return typed;
  if (choice.kind !== 'command') return [];
  if (isBundled(choice.command)) return [EXAMPLES];
  const ready = adapterOf(choice.command);
  return ready === undefined ? [] : (ADAPTERS[ready]?.sources ?? []);
}

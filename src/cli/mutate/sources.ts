// What is changed where nobody says it: of a user's adapter what it imports of its own project, of those that are ready-made the
// trainer that they drive.
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../version.ts';
import { isBundled, type TrainerChoice } from '../trainer/trainer.ts';

const EXAMPLES = join(PACKAGE_ROOT, 'src', 'python', 'lossproof', 'examples', '**', '*.py');

/** By the module that is started. */
const OF_ADAPTERS: Readonly<Record<string, readonly string[]>> = {
  'lossproof.adapters.trl_dpo': ['trl.trainer.dpo_trainer'],
  'lossproof.adapters.trl_grpo': ['trl.trainer.grpo_trainer'],
  'lossproof.adapters.trl_sft': ['trl.trainer.sft_trainer'],
};

/** Nothing: the adapter's own project. */
export function sourcesOf(typed: readonly string[] | undefined, choice: TrainerChoice): readonly string[] {
  if (typed !== undefined) return typed;
  if (choice.kind !== 'command') return [];
  if (isBundled(choice.command)) return [EXAMPLES];
  return OF_ADAPTERS[choice.command.at(-1) ?? ''] ?? [];
}

// What is changed where nobody says it: of a user's adapter what it imports of its own project, of those that are ready-made the
// trainer that they drive.
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../version.ts';
import { type AdapterName, adapterOf, isBundled, type TrainerChoice } from '../trainer/trainer.ts';

const EXAMPLES = join(PACKAGE_ROOT, 'src', 'python', 'lossproof', 'examples', '**', '*.py');

const DRIVEN: Readonly<Record<AdapterName, readonly string[]>> = {
  'grpo-dual': [],
  'llama-factory': [
    'llamafactory.data.processor.supervised',
    'llamafactory.data.processor.pairwise',
    'llamafactory.data.template',
    'llamafactory.train.dpo.trainer',
    'llamafactory.train.rm.trainer',
  ],
  openrlhf: [
    'openrlhf.models.loss',
    'openrlhf.models.utils',
    'openrlhf.trainer.ppo_utils.experience_maker',
    'openrlhf.trainer.ray.ppo_actor',
    'openrlhf.trainer.ray.ppo_critic',
  ],
  orz: [],
  priorzero: [],
  'search-r1': [],
  'trl-dpo': ['trl.trainer.dpo_trainer'],
  'trl-grpo': ['trl.trainer.grpo_trainer'],
  'trl-kto': ['trl.trainer.kto_trainer'],
  'trl-reward': ['trl.trainer.reward_trainer'],
  'trl-rloo': ['trl.trainer.rloo_trainer'],
  'trl-sft': ['trl.trainer.sft_trainer'],
  verl: ['verl.trainer.ppo.core_algos', 'verl.utils.torch_functional', 'verl.workers.utils.losses'],
};

/** Nothing: the adapter's own project. */
export function sourcesOf(typed: readonly string[] | undefined, choice: TrainerChoice): readonly string[] {
  if (typed !== undefined) return typed;
  if (choice.kind !== 'command') return [];
  if (isBundled(choice.command)) return [EXAMPLES];
  const ready = adapterOf(choice.command);
  return ready === undefined ? [] : DRIVEN[ready];
}

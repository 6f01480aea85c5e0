// Bugs of the KL to the reference.
import type { Bug } from './bug.ts';

export const kl: readonly Bug[] = [
  {
    id: 'KL-01',
    what: 'The KL term is subtracted from the loss.',
    seen: ['verl-project/verl#179', 'Unakar/Logic-RL#58', 'mll-lab-nu/RAGEN#58', 'qiancheng0/ToolRL#52'],
    todo: 'The loss is minimised: write `loss = policy_loss + beta * kl`. Forks of older trainers still subtract it.',
  },
  {
    id: 'KL-02',
    what: 'The estimator k1 is used as a loss, where its gradient does not know the reference.',
    seen: [
      'allenai/open-instruct#534',
      'allenai/open-instruct#535',
      'NVIDIA-NeMo/RL#2506',
      'huggingface/trl#2277',
      'verl-project/verl#6058',
    ],
    todo: 'In a loss use k2, or the full KL; k1 has the gradient 1 wherever the reference is, and k3 another one than its name suggests. k1 belongs in the reward.',
  },
  {
    id: 'KL-03',
    what: 'Policy and reference are swapped in the estimator.',
    seen: [
      'huggingface/trl#3043',
      'modelscope/ms-swift#7145',
      'ServiceNow/Fast-LLM#459',
      'marin-community/marin#1708',
    ],
    todo: 'With d = ref - logp, k3 is exp(d) - d - 1. Write d down once; check on a vocabulary of three tokens that the expectation is KL(policy, reference).',
  },
  {
    id: 'KL-04',
    what: 'The KL in the loss has no gradient.',
    seen: ['NovaSky-AI/SkyRL#1353', 'NovaSky-AI/SkyRL#1340'],
    todo: 'Remove `no_grad` and `detach` from what computes the KL of the loss; only the reference is without gradient.',
  },
  {
    id: 'KL-06',
    what: 'The name of an estimator selects another one, or none.',
    seen: ['verl-project/verl#6058', 'THUDM/slime@7b2701ce8', 'OpenRLHF/OpenRLHF@21c76ee2'],
    todo: 'Dispatch by a table that raises for an unknown name, and run every name that the configuration accepts once.',
  },
  {
    id: 'KL-08',
    what: 'Masked tokens count in the KL.',
    seen: ['THUDM/slime#1370', 'THUDM/slime#1372', 'PeterGriffinJin/Search-R1#21'],
    todo: 'Multiply the loss mask into the KL before it is summed, and divide by the same mask; tool output and padding are none of the policy.',
  },
  {
    id: 'KL-09',
    what: 'The configured coefficient has no effect.',
    seen: [
      'THUDM/slime#397',
      'THUDM/slime#399',
      'OpenRLHF/OpenRLHF@def88ca6',
      'OpenRLHF/OpenRLHF@0314b1c7',
      'THUDM/slime@f6f46cb17',
    ],
    todo: 'Follow the coefficient from the configuration to the sum: change it in a two-row batch, and the loss must change. Look for a branch of the estimator or advantage type that forgets it.',
  },
  {
    id: 'KL-10',
    what: 'The penalty is in reward and loss, or in neither.',
    seen: ['verl-project/verl#3916'],
    todo: 'Decide for reward or loss, give each its own coefficient, and refuse a configuration that sets both or, with a reference loaded, neither.',
  },
  {
    id: 'KL-12',
    what: 'The reward of the sequence is given to each token instead of to one.',
    seen: ['huggingface/trl#2575'],
    todo: 'Add the score to one token, the last of the completion, and the KL to each; check that the rewards of a row sum to score - beta * KL.',
  },
  {
    id: 'KL-13',
    what: 'Padding on the left is summed into the KL, which turns negative.',
    seen: ['huggingface/trl#262', 'huggingface/trl@9b60207f0'],
    todo: 'Sum the KL under the completion mask of the same layout as the log-probabilities. A mean KL below 0 with k3 means that the layouts differ.',
  },
];

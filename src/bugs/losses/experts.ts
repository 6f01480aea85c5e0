// Bugs of the loss that balances the experts of a mixture.
import type { Bug } from '../bug.ts';

export const experts: readonly Bug[] = [
  {
    id: 'MOE-01',
    what: 'Tokens of padding count as load of the experts.',
    formula: 'tokens of padding are counted',
    seen: ['huggingface/transformers#28505', 'NVIDIA/Megatron-LM#2121', 'pytorch/torchtitan#4594'],
    todo: 'Hand the attention mask to the balance loss, and take loads and probabilities over its tokens only. Widen a batch by padding: the loss must stay.',
  },
  {
    id: 'MOE-02',
    what: 'The loss that balances experts moves no router: it is 0, or the part with a gradient is the one that is detached.',
    formula: 'it is 0, or no router logit has a gradient',
    seen: ['NVIDIA-NeMo/Automodel#1408', 'huggingface/transformers#44586'],
    todo: 'Ask for the router logits (`output_router_logits`), and add the loss to the one that is descended. Only probabilities have a gradient: loads are counts. Print the gradient norm of a router.',
  },
  {
    id: 'MOE-03',
    what: 'The loss that balances experts is on another scale: without its coefficient, with it twice, or without the number of experts.',
    formula: 'the coefficient is applied twice or not at all, or the number of experts is left out',
    seen: ['NVIDIA-NeMo/Automodel#1408', 'NVIDIA/Megatron-LM#3768'],
    todo: 'Apply the coefficient in one place. With an even load the loss is top_k times the coefficient (or 1 times it, with shares per choice), for any number of experts.',
  },
  {
    id: 'MOE-04',
    what: 'Layers, or choices of a token, are left out of the load of the experts.',
    formula: 'the last layer or the first choice alone is counted',
    seen: ['NVIDIA/Megatron-LM#1513', 'NVIDIA/Megatron-LM#1617'],
    todo: 'Keep the router logits of every layer until the loss is computed, and count all top_k choices of each token, before any are dropped for capacity.',
  },
  {
    id: 'MOE-05',
    what: 'Experts are balanced within micro-batches where the whole batch is meant.',
    formula: 'loads are those of micro-batches',
    seen: ['NVIDIA/Megatron-LM#3768', 'modelscope/ms-swift#5823'],
    todo: 'Add up loads over micro-batches and ranks before they meet the probabilities, or declare `balance_scope` "micro-batch".',
  },
  {
    id: 'MOE-06',
    what: 'Loads or probabilities of the experts are other numbers: a softmax over tokens, probabilities in place of counts, or one expert too far.',
    seen: [],
    todo: 'Take the softmax over the experts (the last axis), and count the choices of each token with one_hot or bincount.',
  },
];

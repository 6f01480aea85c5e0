// Bugs of an optimiser's step: what becomes of gradients, which tensors it holds, and at which rate it moves them.
import type { Bug } from './bug.ts';

const UNSHOWN =
  'It concerns the loop around a trainer, which no request reaches. `trace` finds it in scripts.';

export const steps: readonly Bug[] = [
  {
    id: 'OPT-01',
    what: 'Gradients are zeroed between the backward pass and the step, or in each micro-batch.',
    seen: [],
    todo: 'Call zero_grad() once per step, after step().',
    unshown: UNSHOWN,
  },
  {
    id: 'OPT-02',
    what: 'Gradients of the step before are still there, or are used a second time.',
    seen: ['pytorch/pytorch#115607'],
    todo: 'Call step() once, and then zero_grad() on every trained parameter.',
    unshown: UNSHOWN,
  },
  {
    id: 'OPT-03',
    what: "The optimiser holds other tensors than the model's: it was made before the model was copied, cast, resized or sharded.",
    seen: ['mlverse/torch#683', 'pytorch/pytorch#7844'],
    todo: 'Make the optimiser last. If it holds copies in a finer precision, write them back after each step.',
    unshown: UNSHOWN,
  },
  {
    id: 'OPT-04',
    what: 'Some tensors have a gradient and never move, move twice, or lie below a cut in the graph.',
    seen: [],
    todo: 'Compare the parameters of the optimiser with those of the model by name, and look for detach(), no_grad() and .data between layers.',
    unshown: UNSHOWN,
  },
  {
    id: 'OPT-05',
    what: 'Parameters that should be frozen are trained, or parameters that should be trained are frozen.',
    seen: ['open-mmlab/mmpretrain#702'],
    todo: 'Call requires_grad_(False) on modules; only parameters have an effective `requires_grad` attribute. Print how many parameters require a gradient.',
    unshown: UNSHOWN,
  },
  {
    id: 'OPT-06',
    what: 'Tied weights became two tensors.',
    seen: ['NVIDIA/Megatron-LM#656', 'facebookresearch/lingua#75', 'verl-project/verl#7834'],
    todo: 'Call tie_weights() after loading, casting and wrapping, before the optimiser is made.',
    unshown: UNSHOWN,
  },
  {
    id: 'OPT-07',
    what: 'The weights that were loaded are not those that training begins with.',
    seen: ['huggingface/transformers#17877'],
    todo: 'Load after everything that initialises, and read the missing and unexpected keys that load_state_dict(strict=False) returns.',
    unshown: UNSHOWN,
  },
  {
    id: 'OPT-08',
    what: 'Weight decay is on biases or norms that are declared free of it, or on nothing else.',
    seen: ['huggingface/transformers#4360', 'deepspeedai/DeepSpeedExamples#755', 'ServiceNow/Fast-LLM#542'],
    todo: 'Group by the names of model.named_parameters(), or by dimension, and not by a list of names of another model.',
    unshown: UNSHOWN,
  },
  {
    id: 'OPT-09',
    what: 'Only a part of the gradients is clipped, or they are clipped while scaled, before all are accumulated, or after the step.',
    seen: ['Lightning-AI/pytorch-lightning#9599', 'pytorch/examples#1196', 'milesial/Pytorch-UNet#468'],
    todo: 'Unscale, clip all parameters of the optimiser, step: in this order, once.',
    unshown: UNSHOWN,
  },
  {
    id: 'OPT-10',
    what: "A gradient scaler's factor is on the gradients of a step, or it leaves out every step.",
    seen: [],
    todo: 'Call scaler.step(optimizer) and scaler.update(), and see why gradients are not finite.',
    unshown: UNSHOWN,
  },
  {
    id: 'OPT-11',
    what: 'The learning rate scheduler is stepped twice, never, in another unit than it counts, or before the optimiser.',
    seen: ['meta-llama/llama-cookbook#27', 'songmzhang/KDFlow#4'],
    todo: 'Step it once after each step of the optimiser, and give it the number of those steps.',
    unshown: UNSHOWN,
  },
  {
    id: 'OPT-12',
    what: 'Losses of accumulated micro-batches are not divided by them, or by more than there are.',
    seen: ['karpathy/nanoGPT#206', 'hirofumi0810/neural_sp#168'],
    todo: 'Divide by the tokens of the whole step, or by the micro-batches that it has.',
    unshown: UNSHOWN,
  },
  {
    id: 'OPT-13',
    what: 'Dropout is on where log-probabilities are taken to be compared with or a model is evaluated, or off where it is trained.',
    seen: ['huggingface/transformers#33844'],
    todo: 'Call eval() before scoring and validation, and train() after them.',
    unshown: UNSHOWN,
  },
];

// Ops that run a whole model: the harness hands over a checkpoint, or the trainer has its own; it scores and trains.
import { op } from '../op.ts';

export const MODEL_OPS = {
  model_score: op({
    args: {
      model_path: 'text', // a folder with config.json and model.safetensors, as Hugging Face has it
      prompt_ids: 'int_rows',
      completion_ids: 'int_rows[completion, token]',
      temperature: 'float',
      padding_side: 'text?',
      packed: 'flag?',
      reference_path: 'text?', // the checkpoint of the frozen reference, of the same shape
    },
    ok: {
      logprobs: 'float_rows[completion, token]', // (B, ·) one a completion token
      entropy: 'float_rows[completion, token]?', // likewise, of the distribution that the token was drawn from
      ref_logprobs: 'float_rows[completion, token]?',
      kl: 'float_rows[completion, token]?',
    },
    offers: ['families', 'temperature', 'padding_side', 'packed', 'reference', 'kl'],
    batch: { reach: 'row' },
  }),
  train_step: op({
    args: {
      model_path: 'text',
      prompt_ids: 'int_rows',
      completion_ids: 'int_rows[completion, token]',
      advantages: 'floats?', // (B,); absent: the supervised loss
      learning_rate: 'float',
      saved_path: 'text', // a folder that does not exist yet
    },
    ok: {
      loss: 'float',
      loss_weights: 'float_rows[completion, token]?', // (B, ·) dL/dlogprob of each completion token
    },
    offers: ['families', 'route'],
    batch: { none: 'a step of an optimiser: the weights before it are part of the question' },
  }),
  preference_step: op({
    args: {
      model_path: 'text',
      reference_path: 'text', // the checkpoint of the frozen reference, of the same shape
      prompt_ids: 'int_rows', // of each pair
      chosen_ids: 'int_rows',
      rejected_ids: 'int_rows',
      learning_rate: 'float',
      saved_path: 'text', // a folder that does not exist yet
    },
    ok: { loss: 'float' },
    offers: ['families'],
    batch: { none: 'a step of an optimiser: the weights before it are part of the question' },
  }),
  update: op({
    args: { prompt_ids: 'int_rows', completion_ids: 'int_rows[completion, token]' },
    ok: {
      old: 'float_rows[completion, token]?', // stored after the rollout, for the ratio
      before: 'float_rows[completion, token]', // the policy's, in the first training pass
      after: 'float_rows[completion, token]', // the policy's, after one optimiser step
      ref_before: 'float_rows[completion, token]?',
      ref_after: 'float_rows[completion, token]?',
      sampler_after: 'float_rows[completion, token]?', // the inference engine's, once it has the new weights
    },
    offers: ['starts_at_reference'],
    batch: { none: 'a step of an optimiser: the weights before it are part of the question' },
  }),
};

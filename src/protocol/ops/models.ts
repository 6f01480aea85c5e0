// Ops that run a whole model: the harness hands over a checkpoint, or the trainer has its own; it scores and trains.
import type { OpSpec } from '../fields.ts';

export const MODEL_OPS = {
  model_score: {
    args: {
      model_path: 'text', // a folder with config.json and model.safetensors, as Hugging Face has it
      prompt_ids: 'int_rows',
      completion_ids: 'int_rows',
      temperature: 'float',
      padding_side: 'text?',
      packed: 'flag?',
      reference_path: 'text?', // the checkpoint of the frozen reference, of the same shape
    },
    ok: {
      logprobs: 'float_rows', // (B, ·) one a completion token
      entropy: 'float_rows?', // likewise, of the distribution that the token was drawn from
      ref_logprobs: 'float_rows?',
      kl: 'float_rows?',
    },
  },
  train_step: {
    args: {
      model_path: 'text',
      prompt_ids: 'int_rows',
      completion_ids: 'int_rows',
      advantages: 'floats?', // (B,); absent: the supervised loss
      learning_rate: 'float',
      saved_path: 'text', // a folder that does not exist yet
    },
    ok: {
      loss: 'float',
      loss_weights: 'float_rows?', // (B, ·) dL/dlogprob of each completion token
    },
  },
  preference_step: {
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
  },
  update: {
    args: { prompt_ids: 'int_rows', completion_ids: 'int_rows' },
    ok: {
      old: 'float_rows?', // stored behind the rollout, for the ratio
      before: 'float_rows', // the policy's, in the first training pass
      after: 'float_rows', // the policy's, after one optimiser step
      ref_before: 'float_rows?',
      ref_after: 'float_rows?',
      sampler_after: 'float_rows?', // the inference engine's, once it has the new weights
    },
  },
} as const satisfies Record<string, OpSpec>;

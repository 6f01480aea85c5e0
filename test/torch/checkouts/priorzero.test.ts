// The adapter of PriorZero on a stand-in of its clone that is right, and on copies of it with the bugs that PriorZero had.
import { test } from 'vitest';
import { cloneOf, family, type Planted } from './clones.ts';

const PIPELINE = 'zoo/jericho/priorzero/priorzero_orz_complete.py';

const clone = cloneOf('priorzero', 'zoo/jericho/priorzero/priorzero_policy.py');

test('a right trainer fails nothing', () => clone.holds(35));

test('doctor asks every op of it, and has no complaint', () =>
  clone.answers(['contract', 'mask', 'schedule', 'sft_loss', 'tokenize', 'train_step', 'unroll']));

const ENCODED = 'padding=True, add_special_tokens=False, return_tensors="pt"';

test.each<[string, Planted]>([
  [
    'a batch of three without segments',
    {
      changes: [
        [
          'current_batch, target_batch, game_segments = data\n        else',
          'current_batch, target_batch, train_iter = data\n            game_segments = None\n        else',
        ],
      ],
      ids: ['contract/every-enabled-loss-runs', 'contract/orders-train-the-same'],
    },
  ],
  [
    'one reward has no deviation, and no_grad',
    {
      changes: [
        ['        if len(rows) > 1:\n            rewards =', '        rewards ='],
        [
          'attention_mask=inputs.attention_mask)\n        trained',
          'attention_mask=inputs.attention_mask)\n        outputs.logits = outputs["logits"] = outputs.logits.detach()\n        trained',
        ],
      ],
      ids: ['contract/every-enabled-loss-is-reported', 'contract/every-enabled-loss-trains-tokens'],
    },
  ],
  [
    'labels from the left edge, a loss divided by the configuration, actions as a mask',
    {
      changes: [
        ['labels[i, : padding + prompt_len]', 'labels[i, :prompt_len]'],
        ['return outputs.loss', 'return outputs.loss / self.llm_policy_cfg.llm_gradient_accumulation_steps'],
        [
          'observations, actions, bootstraps, mask, indices, weights, made, times = current_batch',
          'observations, actions, mask, indices, weights, made = current_batch[:6]',
        ],
        ['mask[:, :-1] == 1.0', 'mask == 1.0'],
      ],
      ids: [
        'mask/prompt-is-never-trained',
        'mask/independent-of-batch-mates',
        'sft-loss/equals-the-reference',
        'segments/unrolled-mask-marks-the-steps',
      ],
    },
  ],
  [
    'the stop masked as padding, two BOS',
    {
      changes: [
        ['inputs.attention_mask == 0, -100', 'inputs.input_ids == self.llm_tokenizer.pad_token_id, -100'],
        [ENCODED, 'padding=True, return_tensors="pt"'],
      ],
      ids: ['mask/stop-token-is-trained-once', 'tokenize/exactly-the-right-number-of-bos'],
      env: family('mistral'),
    },
  ],
  [
    'prompts alone',
    {
      changes: [['row["prompt"] + row[answer] + self.llm_tokenizer.eos_token', 'row["prompt"]']],
      ids: ['mask/row-holds-prompt-and-completion'],
      env: { LOSSPROOF_ROUTE: 'rft' },
    },
  ],
  [
    'a pipeline that reads none of its settings',
    {
      file: PIPELINE,
      changes: [
        ['if hybrid_cfg.wm_training_mode == "alternating":', 'if False:'],
        ['"llm": hybrid_cfg.llm_train_freq', '"llm": hybrid_cfg.wm_train_freq'],
        [
          'if installed and "llm" in losses:',
          'if installed and orz_trainer is not None and "llm" in losses:',
        ],
      ],
      ids: [
        'schedule/alternating-takes-turns',
        'schedule/frequencies-are-honoured',
        'schedule/installed-trainers-are-used',
      ],
    },
  ],
])('finds: %s', (_, planted) => clone.finds(planted));

clone.refusals();

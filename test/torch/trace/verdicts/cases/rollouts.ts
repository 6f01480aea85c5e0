// Rollouts that are trained: how often in a step, divided by what, and against which old log-probabilities.
import type { Cases, CleanCase, FaultyCase } from '../kinds.ts';

const script = (way: string): CleanCase => ({ words: `shares/rollouts.py --way ${way}` });
const wrong = (way: string, found: string, says: RegExp): FaultyCase => ({ ...script(way), found, says });

const AGAIN = 'mask/every-completion-token-is-trained';
const RATIO = 'update/first-ratio-is-one';
const MICRO = 'loss/independent-of-micro-batches';
const GROUPS = 'trace/advantages-are-of-their-prompt';
const MASK = 'rollout/attention-covers-exactly-the-real-tokens';
const PROMPT = 'rollout/scored-prompt-is-the-prompt-generated-from';

export const rollouts: Cases = {
  clean: {
    'each completion once': script('once'),
    'two epochs, with a step for each': script('epochs'),
    'a step for each micro-batch': script('parts'),
    'the same, twice': script('parts-twice'),
    'the best of each group alone': script('best'),
    'a likelihood of the best beside the loss of the policy': script('imitated'),
    'completions that happen to be the same': script('equal-samples'),
    'a ratio to itself, detached': script('detached'),
    'a copy that follows before each rollout is scored': script('synced'),
    'an engine that samples one step behind': script('sampler'),
    'rewards of 0 and 1 without their deviation': script('unscaled'),
    'two epochs with most ratios clipped': script('clipped'),
    'positions that begin behind the padding, and no mask': script('positions'),
  },
  faulty: {
    'the first micro-batch in place of the second': wrong('twice', AGAIN, /trained 2 times in that step/),
    'one micro-batch again and again': wrong('first-only', AGAIN, /trained 3 times in that step/),
    'micro-batches that overlap by a row': wrong('overlap', AGAIN, /trained 2 times in that step/),
    'two epochs without a step between them': wrong('no-step-between', AGAIN, /trained 2 times in that step/),
    'prompts that are one row on': wrong('prompts-shifted', PROMPT, /./),
    'prompts that are tiled the other way round': wrong('prompts-untiled', PROMPT, /./),
    'a copy that is never updated': wrong('unsynced', RATIO, /the first ratio is not 1/),
    'a copy that is updated behind the scoring': wrong('synced-late', RATIO, /the first ratio is not 1/),
    'a copy that is updated before the last step': wrong('synced-early', RATIO, /the first ratio is not 1/),
    'old log-probabilities that are taken anew after a step': wrong(
      'after-step',
      RATIO,
      /scored anew after that step/,
    ),
    'a ratio to itself in a second epoch': wrong('detached-epochs', RATIO, /no ratio to the policy/),
    'rewards that are tiled the other way round': wrong('rewards-tiled', GROUPS, /every 3rd row/),
    'rewards that are one row on': wrong('rewards-shifted', GROUPS, /neighbouring rows, 1 on/),
    'no attention mask beside padding in front': wrong('no-mask', MASK, /no attention_mask/),
    'a mean over the tokens, divided by the micro-batches': wrong(
      'divided-twice',
      MICRO,
      /divided by its 3 micro-batches once more/,
    ),
    'the same of rewards without their deviation': wrong(
      'divided-twice-unscaled',
      MICRO,
      /divided by its 3 micro-batches once more/,
    ),
    'a mean of each micro-batch': wrong('batch', MICRO, /fit a mean over the tokens of each micro-batch/),
  },
};

// What trainers call the parts of a rollout in the files that they write. First match wins, so the more exact name
// stands first. Each name is one that a trainer's code writes, or the plain word.

/** Text of the completion. `output` and `response` may be anything, and count only beside a prompt (samples.ts). */
export const COMPLETION_KEYS = [
  // TRL, verifiers, AReaL
  'completion',
  'completion_text',
  // Open-Reasoner-Zero, slime
  'response',
  'response_text',
  // SkyRL
  'output_response',
  // verl, OpenRLHF
  'output',
  'output_text',
  'generated_text',
  'generation',
  'responses',
  'completions',
] as const;

export const PROMPT_KEYS = [
  'prompt',
  'prompt_text',
  'input_prompt',
  'input',
  'input_text',
  'query',
  'question',
  'problem',
  'instruction',
  'prompts',
] as const;

/** The whole row as one text: OpenRLHF's table of samples (`text`), and its remote reward (`query`). */
export const WHOLE_KEYS = ['text', 'full_text', 'query', 'sequence', 'content'] as const;

export const COMPLETION_ID_KEYS = [
  'completion_ids',
  'completion_token_ids',
  'completion_tokens',
  'response_ids',
  'response_token_ids',
  'response_tokens',
  'output_ids',
  'output_token_ids',
  'generated_ids',
  'responses',
] as const;

export const PROMPT_ID_KEYS = [
  'prompt_ids',
  'prompt_token_ids',
  'prompt_tokens',
  'query_ids',
  'input_ids',
] as const;

/** Ids of the whole row: slime (`tokens` beside `response_length`), NeMo-RL (`token_ids` beside `token_loss_mask`). */
export const WHOLE_ID_KEYS = ['tokens', 'token_ids', 'input_ids'] as const;

export const REWARD_KEYS = ['reward', 'total_reward', 'final_reward', 'score', 'rewards', 'scores'] as const;

/** A verdict that is a reward where nothing else is: Open-Reasoner-Zero pays 1 for it. */
export const VERDICT_KEYS = ['iscorrect', 'is_correct', 'correct', 'acc'] as const;

export const ADVANTAGE_KEYS = ['advantage', 'advantages'] as const;

export const STEP_KEYS = [
  'step',
  'global_step',
  'global_steps',
  'training_step',
  'train_step',
  'iteration',
  'iter',
  '_step',
] as const;

export const GROUP_KEYS = [
  'group',
  'group_id',
  'group_index',
  'uid',
  'prompt_id',
  'problem_id',
  'task_id',
] as const;

export const FINISH_KEYS = ['finish_reason', 'stop_reason', 'finish', 'status'] as const;

export const TRUNCATED_KEYS = ['truncated', 'is_truncated', 'overlong'] as const;

/** What engines call an end by a stop token or stop text, and one at the limit. Anything else says nothing. */
export const STOPPED =
  /^(?:stop|eos|eos_token|stop_sequence|end_turn|complete|completed|finished|tool_calls)$/i;
export const CUT = /^(?:length|max_length|max_tokens|max_new_tokens|truncated|overlong)$/i;

/** A line that has one of these is a line of metrics, whatever sample it carries along. */
export const METRICS = /^(?:train\/|actor\/)?(?:loss|learning_rate|lr|grad_norm)$/;

/** Columns of single reward functions, as TRL names them: by the function. */
export const REWARD_COLUMN = /reward|score/i;

/** Numbers of a sample that no reward function gave. */
export const NO_REWARD =
  /^(?:index|id|rank|epoch|seed|time|timestamp|version|[a-z_]*(?:length|len|count|tokens|seqlen))$/i;

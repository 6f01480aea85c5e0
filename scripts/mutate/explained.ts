// Why changes survive of which the run saw nothing that would find them: read in the code, a sentence for those of a function, or of some
// lines of it. A line is named, so that nothing is explained that nobody has read: what has no sentence is counted as that.
export interface Explained {
  /** The name of one of `TRAINERS`. */
  readonly trainer: string;
  /** `path/of/file.py function`. */
  readonly in: RegExp;
  /** The line as it was, or what it is with the change. */
  readonly line: RegExp;
  readonly answers?: 'same' | 'other';
  readonly why: string;
}

const bundled = (where: RegExp, line: RegExp, why: string): Explained => ({
  trainer: 'bundled example',
  in: where,
  line,
  why,
});

const own = (where: RegExp, line: RegExp, why: string): Explained => ({
  trainer: 'own GRPO trainer',
  in: where,
  line,
  why,
});

const fused = (line: RegExp, why: string): Explained => ({
  trainer: 'GRPO in one method',
  in: /./,
  line,
  why,
});

const trl = (where: RegExp, line: RegExp, why: string, answers: 'same' | 'other' = 'same'): Explained => ({
  trainer: 'trl-grpo',
  in: where,
  line,
  answers,
  why,
});

const GATHERED =
  '`gather` reads as many rows of the logits as there are ids: one row more behind them is not looked at.';
const SHOULD = 'Found with `--level should`: that the penalty is DAPO’s formula is asked there.';

const ECONOMY =
  'Whether the model computes logits that are cut off behind it: an economy, in whose last digits log-probabilities may differ.';
const STOPS =
  'Padding is trained, and it is TRL’s own bug that hides it: with two stop ids `mask/padding-is-never-trained` fails as it is, and is known.';
const TRIED = 'Found with `--level should`, which was tried.';
const SIZES = 'How large a reward is: its order alone is asked.';
const NOTHING_PREDICTED =
  'What stands where nothing is predicted, at padding and at the first token of a row: no answer has it.';
const OTHER_MODEL = 'Another model: every answer follows it, and each is right for the model that it is of.';
const NOT_ASKED =
  'Fields that an answer may leave out, and values at tokens that are not trained: nothing is asked of either.';
const SAME = 'Another way to the same numbers: in other steps, in another order, or with what adds nothing.';
const NOT_TAKEN =
  'What is not taken here: a default of what is sent along, a branch for other checkpoints, a number that nobody reads.';
const PADDING = 'The id of padding: the mask says where padding is, and nobody reads what stands there.';
const BEYOND =
  'Beyond the limit the penalty goes on. More length costs no less there, which is all that is asked.';

/** Of each trainer the first that fits. */
export const EXPLAINED: readonly Explained[] = [
  bundled(
    /toy_model|left_padded\.py logprobs|by_token/,
    /log_prob\(state, id, bias\) if|\[1\.0\]/,
    NOTHING_PREDICTED,
  ),
  bundled(
    /toy_model|updates\.py update/,
    /cos\(|sin\(|tanh\(|CLASSES = |WIDTH = |state, position, out|position [+-]?= |turned = |logits = \[|policy = \[/,
    OTHER_MODEL,
  ),
  bundled(/trajectory/, /\[1\.0\]|\npass$|\[advantage for/, NOT_ASKED),
  bundled(/estimates/, /else 1\.0|advantages = \[1\.0\]/, NOT_ASKED),
  bundled(
    /left_padded\.py tokenize|with_logprobs/,
    /route [!=]= "sft"|answer\["(labels|logprobs)"\]/,
    'A field that an answer may leave out: the properties that held of it are skipped then, and the run says why.',
  ),
  bundled(
    /(estimates|preference_loss|reward_loss|unpaired_loss|value_loss|updates|critic|full_kls|batches|checkpoints)\.py $/,
    /(OPS|CAN) = \{|"(token_rewards|whiten)": \(|"(temperature|packed|reference)": True/,
    'An op says that it can do less, or names other values of a knob: no more is asked of it.',
  ),
  bundled(
    /log_softmax|entropies\.py entropy|attend/,
    /top = /,
    'What is subtracted before `exp` guards against an overflow: these logits are small.',
  ),
  bundled(
    /lists\.py positions/,
    /seen if real/,
    'The position of padding, which no model looks at: none is asked.',
  ),
  bundled(
    /sft_batch/,
    /padding_side/,
    'Rows padded on the other side: the attention mask says where they are, and no property asks for the side.',
  ),
  bundled(/updates\.py scored|completion_logprobs|pipeline\.py $/, /pad=1\)|PADDING = 1/, PADDING),
  bundled(
    /left_padded\.py completion_mask/,
    /stopped/,
    'Here padding is the stop token: what is not real stands behind a stop, and nothing else does. With a pad of its own, `or` is found.',
  ),

  bundled(
    /left_padded\.py logprobs|by_token|by_predictor|part|weight|attend|window|predicted/,
    /rows\[start:\]|ids\[start \+ 1:\]|row\[start:\]|rows\[:\]|\]\[:\] for|grad\[first:\]|flat\[at:\]|values\[:\]|range\(len\(ids\) - 1\)/,
    'A row or a column more or less that nobody reads: the `zip`, the slice or the mask behind it leaves it out.',
  ),
  bundled(
    /left_padded\.py score|updates\.py scored|transformer\.py (linear|norm|split)/,
    /\[\(-1\)\]/,
    'The last in the place of the first: it is the only one, or as long.',
  ),
  bundled(/slopes/, /\[\(-1\)\] \+= by/, SAME),
  bundled(
    /left_padded\.py score|updates\.py scored|lists\.py pad_/,
    /if prompts else 1|default=1/,
    'How wide a batch is that has no rows.',
  ),
  bundled(
    /left_padded\.py score|model_score/,
    /packed/,
    'Whether rows are packed makes no difference to the numbers, which is what is asked.',
  ),
  bundled(/shard_spans/, /edges = /, SAME),
  bundled(
    /sum_of|turned|transformer\.py weight/,
    /len\(factors\) \/\/ 9|eights - 1|len\(values\) - 1|len\(flat\) - 1/,
    SAME,
  ),
  bundled(/turned|attend/, /out = .*\[1\.0\]/, SAME),
  bundled(/attend/, /sorted\(kept/, SAME),
  bundled(/Model\.log_softmax/, /add_to\(target, 1,/, NOT_TAKEN),
  bundled(/llama/, /config\.get/, NOT_TAKEN),
  bundled(
    /safetensors\.py write/,
    /exist_ok|% [89]\)/,
    'The folder above is there, and readers take values wherever they begin.',
  ),
  bundled(/sampler\.py sampling/, /top_k=1|top_p=2\.0|min_new_tokens=1/, NOT_TAKEN),
  bundled(
    /keep_top_p/,
    /p > 1|mass > p/,
    'That probabilities sum to `top_p` to the last bit does not happen in what is sent, and at 1 nothing is cut.',
  ),
  bundled(/penalties\.py repeated/, /row\[id\] <= 0/, SAME),
  bundled(/replay\.py sample/, /train_iter/, NOT_TAKEN),
  bundled(/Tokenizer\.encode/, /start = 1|begin <= end|start <= len/, SAME),
  bundled(/Tokenizer\._word/, /_CACHED_WORDS/, SAME),
  bundled(/Tokenizer\._merged/, /len\(parts\) (>= 1|> 0)/, NOT_TAKEN),
  bundled(/_representatives/, /<= "\\x80"/, SAME),
  bundled(
    /Tokenizer\.__init__/,
    /vocab_size/,
    'The vocabulary is declared without its last id, which is not sent then.',
  ),

  bundled(
    /graders|tools/,
    /WRONG, MISSING = |return 2\.0 if given|2\.0 if well_formed|GOOD_CALL, FAILED_CALL = |"reward": 1\.0/,
    SIZES,
  ),
  bundled(/answer_of/, /answers\[0\]/, 'Which of two answers counts: no completion has two.'),
  bundled(
    /graders\.py overlong/,
    /length < free|length >= max_length|buffer == 1/,
    'Where the buffer begins, and at the limit, both branches give the same; without a buffer the limit itself may cost.',
  ),
  bundled(/graders\.py overlong/, /\(-2\.0\)|and \(buffer == 0\)/, BEYOND),
  bundled(/graders\.py overlong/, /buffer != 0/, TRIED),
  bundled(/well_formed/, /inside = all/, TRIED),
  bundled(/preference_loss\.py pairs/, /"loss": sum/, 'The mean over pairs or their sum: both are legal.'),
  bundled(
    /updates\.py (step)?$/,
    /LEARNING_RATE/,
    'Any loss at any rate: that scores move is asked, and not where to.',
  ),
  bundled(/tool_step/, /status != "no_call"|"status": status, "done": 0\}\n.*GOOD_CALL.*"done": 1/, TRIED),
  bundled(/tool_step/, /"observation": "", "reward": 0\.0, "status": status, "done": 0/, TRIED),
  bundled(/tool_step/, /FAILED_CALL/, 'An episode may end at a call that fails.'),
  bundled(
    /tools\.py run/,
    /name != "add"/,
    'A gap, closed since: no property that minds what raises was sent a well-formed call.',
  ),
  bundled(/tools\.py run/, /"a"\] - /, 'What a tool answers is its own business.'),
  bundled(/best_fit/, /len\(lengths\) - 1/, TRIED),
  bundled(
    /best_fit/,
    /sorted\(range|fitting = |fullest|room/,
    'More rows that are less full: nobody asks how well examples are packed.',
  ),
  bundled(/truncation\.py $/, /IGNORED = /, TRIED),
  bundled(/truncation\.py truncate/, /trains\(row\[:\]\)/, TRIED),
  bundled(
    /truncation\.py truncate/,
    /len\(row\) < max|max_length - 1/,
    'A filter may ask for one token less than the limit, and leave out what has no label.',
  ),
  bundled(
    /truncation\.py trains/,
    /all\(/,
    'Found with the 100 cases that `check` tries by default; these were 10.',
  ),
  bundled(/replay\.py learn/, /executed\[name\]/, TRIED),
  bundled(/completion_logprobs/, /len\(s\["completion_ids"\]\) - len\(row\)/, TRIED),

  bundled(
    /replay\.py (learn|sft|rft)/,
    /losses\[name\] = |return -sum\(/,
    'A gap: `contract` asks which losses run, and on how many tokens. Their sign, their divisor and what weighs them are asked of ops `loss` and `sft_loss` alone.',
  ),
  bundled(/left_padded\.py sft_loss/, /row\[:\]/, TRIED),
  bundled(/entropies\.py entropy|full_kls\.py full_kl/, /w >= 0|logp >= /, TRIED),

  own(/token_logprobs/, /\[:, :\]/, GATHERED),
  own(
    /token_logprobs/,
    /temperature=/,
    'The adapter hands the temperature over: the default is never taken.',
  ),
  own(/overlong_penalty/, /over < 0/, 'Where nothing is over, the other branch gives 0 as well.'),
  own(/overlong_penalty/, /min\(2\.0/, BEYOND),
  own(/overlong_penalty/, /over/, SHOULD),

  fused(/logits\[:, :\]/, GATHERED),
  fused(
    /group_size/,
    'The adapter declares the size of a group that it reads from there, and is sent groups of that size.',
  ),
  fused(/behind/, 'With the other sign it is still 0 where it was 0, and nothing else is asked of it.'),
  fused(
    /attention_mask=None/,
    'The adapter’s model is a `Table`, whose logits are given: it looks at no mask.',
  ),

  trl(
    /./,
    /image|pixel|spatial|num_tiles|_is_vlm|multimodal|token_type|needs_padding_workaround|"padding": True/,
    'Of images: the model that the adapter drives reads text alone.',
  ),
  trl(/./, /tool/, 'Of tools: the adapter gives the trainer none.'),
  trl(/./, /vllm|vespo/, 'Of vLLM and losses that are not asked: on the CPU the model itself generates.'),
  trl(
    /_compute_loss|_generate_and_score_completions/,
    /self\.beta != 1\.0/,
    'Whether there is a KL at all: the adapter trains with a beta of 0.04, which is neither 0 nor 1.',
  ),
  trl(
    /_compute_loss/,
    /local_sum|totals/,
    'Found with `--level should`, by `kl/a-gap-in-the-mask-is-no-token`: at level must the mean KL fails as it is, and is known.',
    'other',
  ),
  trl(
    /_compute_loss/,
    /already one value|return \(x|is_(low|high|region)_clipped|policy_loss = |self\.loss_type/,
    'Shares of clipped tokens, and the loss before the entropy, for the log.',
  ),
  trl(
    /_compute_loss/,
    /x\.shape\[1\] == 0/,
    'It mends what is known: one column of tokens is taken for a number per row, and rows that are masked out count.',
    'other',
  ),
  trl(
    /_compute_loss/,
    /per_token_logps\.detach\(\)/,
    'Where no old log-probabilities are handed over; the adapter hands them over.',
  ),
  trl(
    /_compute_loss/,
    /mode == "train"|mode != "train"|accumulation|normalizer|num_processes/,
    'One process, one micro-batch per step, in training: what is divided by is 1.',
  ),
  trl(/_compute_loss/, /entropy/, 'Of the entropy’s quantile and its control: both are off in the adapter.'),
  trl(
    /training_step/,
    /self\._step|_train_step_time/,
    'Counts steps and seconds, for the log and for when rollouts are made anew: the adapter takes single steps.',
  ),
  trl(
    /_get_per_token_logps_and_entropies/,
    /_entropy_bonus_enabled/,
    'Whether the entropy has a gradient: of the loss the weights of log-probabilities are asked alone.',
  ),
  trl(
    /_get_per_token_logps_and_entropies/,
    /aux_loss/,
    'Of mixtures of experts: the adapter’s model is none.',
  ),
  trl(
    /_get_per_token_logps_and_entropies/,
    /batch_size|start/,
    'Rows in several chunks: the adapter’s batches are one.',
  ),
  trl(/_get_per_token_logps_and_entropies/, /logits_to_keep|use_cache/, ECONOMY),
  trl(/_get_per_token_logps_and_entropies/, /logits_to_keep/, ECONOMY, 'other'),
  trl(
    /_get_per_token_logps_and_entropies/,
    /compute_entropy=/,
    'A default: an entropy is computed besides, and nobody reads it.',
  ),
  trl(
    /_calculate_rewards/,
    /reward_kwargs\[|keys = /,
    'What reward functions are handed beside prompts and completions: the adapter’s takes the reward from the row.',
  ),
  trl(/_calculate_rewards/, /isnan/, 'Whether a warning is given: every row has a reward.'),
  trl(
    /_tokenize_prompts/,
    /is_conversational/,
    'The prompts of a batch are all texts or all messages: the last says it as the first does.',
  ),
  trl(
    /_generate_single_turn/,
    /padded_ids = |attention_mask = pad/,
    'The batch that is sampled from: what stands in the sampler’s place looks neither at padding nor at its mask.',
  ),
  trl(
    /_generate_single_turn|GRPOTrainer\._generate$/,
    /mode = /,
    'Which of two logs is written into, that of training or that of evaluation.',
  ),
  trl(/_generate_single_turn/, /eos_idx\[/, STOPS, 'other'),
  trl(
    /GRPOTrainer\._generate$/,
    /transformers\.__version__|response_template/,
    'How completions with tool calls are read: the tokenizer has no template for them.',
  ),
  trl(
    /GRPOTrainer\._generate$|_generate_and_score_completions/,
    /batch_decode/,
    'Texts for reward functions and for the log: the adapter’s reward reads none.',
  ),
  trl(
    /_generate_and_score_completions/,
    /padding_value=self\._tokenizer\.eos_token_id/,
    'The id of padding behind completions: the mask leaves it out, and any id is legal there.',
    'other',
  ),
  trl(
    /_generate_and_score_completions/,
    /extra_fields/,
    'Further columns of a rollout function of one’s own: there is none.',
  ),
  trl(
    /_generate_and_score_completions/,
    /unscorable_mask = |nan_to_num/,
    'Rows that no reward function answers for: every row has a reward.',
  ),
  trl(
    /_generate_and_score_completions/,
    /reward_weights/,
    'Weights of several reward functions: there is one, of weight 1.',
  ),
  trl(/_generate_single_turn/, /recurse/, 'Of models that are spread over processes: there is one.'),
  trl(
    /GRPOTrainer\._generate$/,
    /is_conversational/,
    'How completions become texts for reward functions: the adapter’s reward reads none.',
  ),
  trl(
    /GRPOTrainer\._generate$/,
    /mode != "train"|num_input_tokens_seen|eos_and_pad|completion_lengths/,
    'Lengths, tokens and truncated completions, for the log.',
  ),
  trl(/_generate_and_score_completions/, /padding_value=1/, STOPS, 'other'),
  trl(
    /_generate_and_score_completions/,
    /std_rewards|logged|rewards\[|is_std_zero|mean_reward|_logs|log_/,
    'Means and spreads of rewards, for the log.',
  ),
  trl(
    /_generate_and_score_completions/,
    /generate_every|gradient_accumulation|process_index|batch_size|num_generations > /,
    'One process, one micro-batch per step, a group of several rows: both lines come to the same number.',
  ),
];

// Every correct script that is traced, one entry each: its command, its data, and what must come of it.
import { leaveOneOut } from './closed.ts';
import { CHATS, PAIRS, PREFERENCES, TEXTS } from './data.ts';
import { type Exact, NORMS, packed, policy, preference, tokenMean } from './exact.ts';

export interface Clean {
  readonly words: string;
  readonly data?: readonly unknown[];
  readonly options?: string;
  readonly exact?: Exact;
  /** It trains nothing, or nothing that can be known, and rightly: no verdict, and no blame. */
  readonly nothing?: boolean;
}

/** bfloat16 keeps 8 bits. */
const HALF = 2e-2;
const SFT = 'trl_sft.py --data {data} --output {out}';
export const HF = 'hf_trainer.py --data {data} --output {out}';
/** Before a script's name: what the tracer makes without saying where lies on another device than what the script makes. */
export const ELSEWHERE = 'python elsewhere.py';
export const ANSWERS = '--dataset {data} --tokenizer {qwen}';

export const EXACT: Readonly<Record<string, Clean>> = {
  "TRL's SFT on the assistant's words": { words: SFT, data: CHATS, exact: tokenMean(CHATS) },
  "TRL's SFT on prompt and completion": { words: SFT, data: PAIRS, exact: tokenMean(PAIRS) },
  "TRL's SFT with gradient accumulation": {
    words: `${SFT} --accumulate 2 --epochs 2`,
    data: CHATS,
    exact: tokenMean(CHATS),
  },
  // What TRL does by itself where there is a GPU.
  "TRL's SFT in bfloat16": {
    words: `${SFT} --bf16`,
    data: CHATS,
    exact: tokenMean(CHATS, HALF),
  },
  "TRL's SFT with packed rows": { words: `${SFT} --packing`, data: CHATS, exact: packed(CHATS) },
  'the console script of TRL': {
    words:
      'trl sft --model_name_or_path {model} --dataset_name {set} --output_dir {out} --assistant_only_loss --max_steps 2 ' +
      '--per_device_train_batch_size 2 --use_cpu --bf16 false --gradient_checkpointing false --report_to none',
    data: CHATS,
    exact: tokenMean(CHATS),
  },
  "TRL's DPO": {
    words: 'trl_dpo.py --data {data} --output {out}',
    data: PREFERENCES,
    exact: preference(PREFERENCES, 0.1),
  },
  "TRL's GRPO without a reference, loss dapo": {
    words: 'trl_rl.py --output {out}',
    exact: policy(NORMS['token-mean']),
  },
  "TRL's GRPO with a reference, loss grpo": {
    words: 'trl_rl.py --output {out} --beta 0.04 --temperature 1 --loss grpo',
    exact: policy(NORMS['seq-mean-token-mean'], { beta: 0.04, corrected: true, temperature: 1 }),
  },
  "TRL's GRPO with a reference at temperature 0.7, loss dr_grpo": {
    words: 'trl_rl.py --output {out} --beta 0.04 --loss dr_grpo',
  },
  "TRL's GRPO, loss dr_grpo, truncated completions masked": {
    words: 'trl_rl.py --output {out} --loss dr_grpo --mask-truncated',
  },
  "TRL's GRPO with an entropy bonus, loss dr_grpo": {
    words: 'trl_rl.py --output {out} --loss dr_grpo --entropy 0.01',
  },
  "TRL's GRPO with gradient accumulation, loss dapo": {
    words: 'trl_rl.py --output {out} --accumulate 2',
    exact: policy(NORMS['token-mean']),
  },
  "TRL's GRPO with gradient accumulation, loss bnpo": {
    words: 'trl_rl.py --output {out} --accumulate 2 --loss bnpo --beta 0.04',
  },
  "TRL's RLOO": {
    words: 'trl_rl.py --output {out} --method rloo --temperature 1',
    exact: policy(NORMS['seq-mean-token-sum'], { temperature: 1, advantage: leaveOneOut }),
  },
  "transformers' Trainer": { words: HF, data: CHATS, exact: tokenMean(CHATS) },
  "transformers' Trainer with gradient accumulation": {
    words: `${HF} --accumulate 2 --model absolute`,
    data: CHATS,
    exact: tokenMean(CHATS),
  },
  'adapters by hand and gradient checkpointing under accelerate launch': {
    words: `accelerate launch --cpu --num_processes 1 --num_machines 1 --mixed_precision no --dynamo_backend no ${HF} --lora --checkpointing`,
    data: CHATS,
    exact: tokenMean(CHATS),
  },
  'bfloat16 autocast': { words: `${HF} --bf16`, data: CHATS, exact: tokenMean(CHATS, HALF) },
  'a loop by hand over a model with learned positions': {
    words: 'loop.py --data {data} --accumulate 2',
    data: CHATS,
    options: ANSWERS,
    exact: tokenMean(CHATS),
  },
  'a loop by hand over a rotary model with a functional tied head': {
    words: 'loop.py --data {data} --model llama',
    data: PAIRS,
    options: ANSWERS,
    exact: tokenMean(PAIRS),
  },
  'a loop by hand whose head is applied in chunks': {
    words: 'loop.py --data {data} --chunked',
    data: PAIRS,
    options: ANSWERS,
    exact: tokenMean(PAIRS),
  },
  'a compiled model that hands its logits out': {
    words: 'loop.py --data {data} --model llama --compile --optimiser sgd',
    data: PAIRS,
    options: ANSWERS,
    exact: tokenMean(PAIRS),
  },
  'GRPO by hand': {
    words: 'loop_grpo.py --temperature 1 --value-head',
    exact: policy(NORMS['token-mean'], { beta: 0.04, temperature: 1 }),
  },
  'GRPO by hand with the pad equal to eos, at temperature 0.7': {
    words: 'loop_grpo.py --pad-is-eos --beta 0 --model absolute',
    exact: policy(NORMS['token-mean']),
  },
  'two processes that share their gradients': {
    words: 'torchrun --nproc_per_node 2 ddp.py --data {data}',
    data: CHATS,
    exact: tokenMean(CHATS),
  },
  'two models side by side': { words: 'two_models.py' },
};

export const HARMLESS: Readonly<Record<string, Clean>> = {
  'left padding without position_ids on a rotary model': {
    words: 'loop.py --data {data} --model llama --pad left --no-positions',
    data: CHATS,
    options: ANSWERS,
    exact: tokenMean(CHATS),
  },
  'left padding with positions that are handed over by a name of their own': {
    words: 'loop.py --data {data} --pad left',
    data: CHATS,
    options: ANSWERS,
    exact: tokenMean(CHATS),
  },
  'pads at the right that may be attended': {
    words: 'loop.py --data {data} --no-mask',
    data: CHATS,
    options: ANSWERS,
    exact: tokenMean(CHATS),
  },
  'a group without reward variance, an entropy bonus': {
    words: 'loop_grpo.py --constant-group --entropy 0.01 --value-head',
  },
  'groups that all have one reward': {
    words: 'trl_rl.py --output {out} --constant-reward',
    nothing: true,
  },
  'an embedding with spare rows': {
    words: `${HF} --text --ends --spare 5`,
    data: TEXTS,
    options: '--strict',
  },
  'plain text with its end': { words: `${HF} --text --ends`, data: TEXTS },
  'plain text trained whole, the first step at learning rate 0': {
    words: `${HF} --text --warmup 2`,
    data: TEXTS,
  },
  'label smoothing and dropout': {
    words: `${HF} --smoothing 0.1 --dropout 0.1 --model absolute`,
    data: CHATS,
    exact: tokenMean(CHATS),
  },
};

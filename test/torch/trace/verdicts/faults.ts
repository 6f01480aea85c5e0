// Every script with a mistake, one entry each: its command, its data, and the property and the words that must name it.
import { ANSWERS, HF } from './correct.ts';
import { CHATS, PAIRS, TEXTS } from './data.ts';

export interface Faulty {
  readonly words: string;
  readonly data?: readonly unknown[];
  readonly options?: string;
  /** The property that must find it, and what of its sentence says where and what. */
  readonly found: string;
  readonly says: RegExp;
}

const LOOP = 'loop.py --data {data}';
const TOKEN = /\(id \d+\)/;

export const FAULTS: Readonly<Record<string, Faulty>> = {
  'the pad is eos, and the stop token masked with it, under Trainer': {
    words: `${HF} --fault pad-is-eos`,
    data: CHATS,
    found: 'tokenize/stop-token-is-trained',
    says: /<\|im_end\|>/,
  },
  'the pad is eos, and the stop token masked with it, by hand': {
    words: `${LOOP} --fault pad-is-eos`,
    data: PAIRS,
    options: ANSWERS,
    found: 'tokenize/stop-token-is-trained',
    says: /<\|im_end\|>/,
  },
  'the pad is eos, and the end of plain text masked with it': {
    words: `${HF} --text --ends --fault pad-is-eos`,
    data: TEXTS,
    found: 'trace/no-id-is-left-out',
    says: /is left out of the loss at all of its \d+ places.* does not learn to end one/,
  },
  'ids of another tokenizer, in spare rows of the embedding': {
    words: `${HF} --text --spare 5 --fault foreign`,
    data: TEXTS,
    options: '--strict',
    found: 'trace/trained-ids-are-tokens',
    says: /trains? ids that the tokenizer \(.* tokens\) does not have/,
  },
  'the stop token is one too far': {
    words: `${HF} --fault stop-off-by-one`,
    data: CHATS,
    found: 'tokenize/stop-token-is-trained',
    says: /<\|im_end\|>/,
  },
  'the prompt is trained under Trainer': {
    words: `${HF} --fault prompt`,
    data: CHATS,
    found: 'tokenize/prompt-is-not-trained',
    says: TOKEN,
  },
  "TRL's SFT left at its default, which trains the whole chat": {
    words: 'trl_sft.py --data {data} --output {out} --whole',
    data: CHATS,
    found: 'tokenize/prompt-is-not-trained',
    says: TOKEN,
  },
  "TRL's SFT left at its default, in bfloat16": {
    words: 'trl_sft.py --data {data} --output {out} --whole --bf16',
    data: CHATS,
    found: 'tokenize/prompt-is-not-trained',
    says: TOKEN,
  },
  'the prompt is trained by hand': {
    words: `${LOOP} --fault prompt --model llama`,
    data: PAIRS,
    options: ANSWERS,
    found: 'tokenize/prompt-is-not-trained',
    says: TOKEN,
  },
  'the prompt of sampled rows is trained': {
    words: 'loop_grpo.py --fault prompt',
    found: 'mask/prompt-is-never-trained',
    says: TOKEN,
  },
  'a KL that pushes away from the reference': {
    words: 'loop_grpo.py --temperature 1 --fault kl-sign',
    found: 'kl/equals-the-estimator',
    says: /of the wrong sign: it pushes the policy away/,
  },
  "the tool's output is trained": {
    words: `${HF} --fault tool --family llama3`,
    data: CHATS,
    found: 'tokenize/tool-output-is-not-trained',
    says: TOKEN,
  },
  'each position is trained toward its own token, by hand': {
    words: `${LOOP} --fault same-token`,
    data: CHATS,
    options: ANSWERS,
    found: 'trace/target-is-the-next-token',
    says: TOKEN,
  },
  'each position is trained toward the token after the next, by hand': {
    words: `${LOOP} --fault next-but-one --model llama`,
    data: CHATS,
    options: ANSWERS,
    found: 'trace/target-is-the-next-token',
    says: TOKEN,
  },
  'labels that are shifted already, for a model that shifts': {
    words: `${HF} --fault labels-early`,
    data: CHATS,
    found: 'trace/target-is-the-next-token',
    says: TOKEN,
  },
  'labels that are one late': {
    words: `${HF} --fault labels-late --model absolute`,
    data: CHATS,
    found: 'trace/target-is-the-next-token',
    says: TOKEN,
  },
  'the labels of another row, under Trainer': {
    words: `${HF} --fault another-row`,
    data: CHATS,
    found: 'trace/target-is-the-next-token',
    says: TOKEN,
  },
  'the labels of another row, by hand': {
    words: `${LOOP} --fault another-row`,
    data: PAIRS,
    options: ANSWERS,
    found: 'trace/target-is-the-next-token',
    says: TOKEN,
  },
  'a loss in chunks that takes the target before': {
    words: `${LOOP} --chunked --fault chunk`,
    data: PAIRS,
    options: ANSWERS,
    found: 'trace/target-is-the-next-token',
    says: TOKEN,
  },
  'padding is trained': {
    words: `${LOOP} --fault pads-trained`,
    data: CHATS,
    options: ANSWERS,
    found: 'mask/padding-is-never-trained',
    says: TOKEN,
  },
  'left padding without position_ids on learned positions, by hand': {
    words: `${LOOP} --pad left --no-positions`,
    data: CHATS,
    options: ANSWERS,
    found: 'collate/positions-count-real-tokens',
    says: /row \d+/,
  },
  'left padding without position_ids on learned positions, sampled': {
    words: 'loop_grpo.py --model absolute --no-positions',
    found: 'mask/positions-count-real-tokens',
    says: /row \d+/,
  },
  'a mean of the means of micro-batches, under Trainer': {
    words: `${HF} --accumulate 2 --fault mean-of-means`,
    data: CHATS,
    found: 'loss/independent-of-micro-batches',
    says: /\d/,
  },
  'a mean of the means of micro-batches, by hand': {
    words: `${LOOP} --accumulate 2 --fault mean-of-means`,
    data: CHATS,
    options: ANSWERS,
    found: 'loss/independent-of-micro-batches',
    says: /\d/,
  },
  'each process divides by its own tokens': {
    words: 'torchrun --nproc_per_node 2 ddp.py --data {data} --fault per-rank',
    data: CHATS,
    // With one row in each process a mean over rows looks the same.
    options: '--semantics {"sft_aggregation":"token-mean"}',
    found: 'loss/independent-of-ranks',
    says: /rank/,
  },
  'scores without the temperature': {
    words: 'loop_grpo.py --fault temperature',
    found: 'logprobs/divide-by-the-temperature',
    says: /0\.7/,
  },
  'the reference is given another prompt': {
    words: 'loop_grpo.py --fault reference',
    found: 'trace/reference-sees-the-same-rows',
    says: /row \d+/,
  },
  'completions are trained past their stop': {
    words: 'loop_grpo.py --fault past-the-stop --pad-is-eos',
    found: 'mask/nothing-after-the-stop-is-trained',
    says: TOKEN,
  },
  'the stop token of a sampled completion is not trained': {
    words: 'loop_grpo.py --fault stop-untrained',
    found: 'mask/stop-token-is-trained-once',
    says: TOKEN,
  },
  'completions that were decoded and encoded again': {
    words: 'loop_grpo.py --fault re-encoded',
    found: 'rollout/scored-ids-are-sampled-ids',
    says: TOKEN,
  },
  'all labels are ignored, under Trainer': {
    words: `${HF} --fault all-ignored`,
    data: CHATS,
    found: 'trace/every-step-trains',
    says: /Step 0/,
  },
  'all labels are ignored, by hand': {
    words: `${LOOP} --fault all-ignored`,
    data: CHATS,
    options: ANSWERS,
    found: 'trace/every-step-trains',
    says: /Step 0/,
  },
  'a batch told by its length, of which the language model never gets its part': {
    words: 'two_models.py --fault tuple',
    found: 'trace/every-step-trains',
    says: /Step 0/,
  },
  'the same, and nobody calls the language model': {
    words: 'two_models.py --fault tuple --no-prior',
    found: 'trace/every-step-trains',
    says: /Step 0/,
  },
  'two BOS': {
    words: `${HF} --fault double-bos --family llama3`,
    data: CHATS,
    found: 'tokenize/exactly-the-right-number-of-bos',
    says: /begin_of_text/,
  },
};

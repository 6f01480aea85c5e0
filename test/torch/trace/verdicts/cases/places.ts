// Where people train: PEFT, sharded and compiled models, accelerate, Lightning, recipes, tokenizers of other kinds.
import { expect } from 'vitest';
import { farthest, pushed, rowsOfSteps } from '../closed.ts';
import { CHATS } from '../data.ts';
import { type Exact, tokenMean } from '../exact.ts';
import type { Cases, FaultyCase } from '../kinds.ts';

const TWO_RANKS =
  'python -m torch.distributed.run --standalone --nproc-per-node 2 places/sharded.py --data {data}';
const ACCELERATED =
  'python -m accelerate.commands.launch --cpu --num_processes 2 --num_machines 1 --mixed_precision no ' +
  '--dynamo_backend no --main_process_port 0 places/accelerated.py --data {data}';
const PEFT = 'places/peft_sft.py --data {data}';
const COMPILED = 'places/compiled.py --data {data}';
const LIGHTNING = 'places/lightning_fit.py --data {data}';
const RECIPE = 'places/torchtune_recipe.py --data {data}';
const OWN_TOKENIZER = 'places/own_tokenizer.py --data {data}';

/** Options are words without spaces. */
const marks = (turn: (role: string) => readonly [string, string], bos: string): string =>
  `--marks ${JSON.stringify({ ...Object.fromEntries(['user', 'assistant'].map((role) => [role, turn(role)])), bos })}`;
const OWN_MARKS = marks((role) => [`<|${role}_start|>`, `<|${role}_end|>`], '<|bos|>');
/** By their ids: 256 bytes and 9 tokens stand before them. */
const OWN_IDS = '--marks {"user":[266,267],"assistant":[268,269],"bos":265}';
const RECIPE_MARKS = marks(
  (role) => [`<|start_header_id|>${role}<|end_header_id|>\n\n`, '<|eot_id|>'],
  '<|begin_of_text|>',
);

const exact = tokenMean(CHATS);
/** Each token of a step weighs the same, whatever tokenizer made it: one over the step's tokens. */
const even: Exact = ({ ledger }) => {
  expect(rowsOfSteps(ledger)).toHaveLength(2);
  for (const rows of rowsOfSteps(ledger)) {
    const seen = rows.flatMap(pushed).map(({ weight }) => weight);
    expect(seen.length).toBeGreaterThan(0);
    expect(
      farthest(
        seen,
        seen.map(() => 1 / seen.length),
      ),
    ).toBeLessThan(1e-5);
  }
};

const STOP = { found: 'tokenize/stop-token-is-trained' };
const PROMPT = { found: 'tokenize/prompt-is-not-trained' };

const FOUR = [
  ['prompt', 'tokenize/prompt-is-not-trained'],
  ['eos', 'tokenize/stop-token-is-trained'],
  ['pads', 'mask/padding-is-never-trained'],
  ['early', 'trace/target-is-the-next-token'],
] as const;

/** The mistakes of any loop, in one place. */
const fourOf = (
  place: string,
  words: string,
  faults = FOUR.map(([fault]): string => fault),
): Readonly<Record<string, FaultyCase>> =>
  Object.fromEntries(
    FOUR.filter(([fault]) => faults.includes(fault)).map(([fault, found]) => [
      `${place}: ${fault}`,
      { words: `${words} --fault ${fault}`, data: CHATS, found, says: /\(id \d+\)/ },
    ]),
  );

export const places: Cases = {
  clean: {
    'LoRA of PEFT, and a head of its own (modules_to_save)': {
      words: `${PEFT} --kind saved-head`,
      data: CHATS,
      exact,
    },
    'LoRA of PEFT on a model in four bits of bitsandbytes': {
      words: `${PEFT} --kind quantised --output {out}`,
      data: CHATS,
      exact,
    },
    'prefix tuning of PEFT': { words: `${PEFT} --kind prefix`, data: CHATS, exact },
    'a compiled model': {
      words: COMPILED,
      data: CHATS,
      exact,
      says: /torch\.compile was called \(on LlamaForCausalLM\).*ran uncompiled/,
    },
    'a model written by hand that is compiled with fullgraph': {
      words: `${COMPILED} --model hand --how fullgraph`,
      data: CHATS,
      options: '--dataset {data} --tokenizer {qwen}',
      exact,
    },
    'a compiled model kept compiled': {
      words: COMPILED,
      data: CHATS,
      options: '--keep-compiled',
      exact,
    },
    FSDP2: { words: `${TWO_RANKS} --how fsdp2`, data: CHATS, exact },
    'ZeRO 1': { words: `${TWO_RANKS} --how zero1`, data: CHATS, exact },
    'ZeRO 2': { words: `${TWO_RANKS} --how zero2`, data: CHATS, exact },
    'ZeRO 3': { words: `${TWO_RANKS} --how zero3`, data: CHATS, exact },
    'accelerate with two processes and accumulation': { words: ACCELERATED, data: CHATS, exact },
    Lightning: { words: LIGHTNING, data: CHATS, exact },
    'Lightning with a model by hand and optimisation by hand': {
      words: `${LIGHTNING} --model hand --manual`,
      data: CHATS,
      exact,
    },
    'a recipe of torchtune': { words: RECIPE, data: CHATS, options: RECIPE_MARKS, exact: even },
    'an encoding of tiktoken with marks that are declared': {
      words: OWN_TOKENIZER,
      data: CHATS,
      options: OWN_MARKS,
      exact: even,
      says: /<\|assistant_end\|> .*role .*stop/,
    },
    'a processor of sentencepiece with marks that are declared': {
      words: `${OWN_TOKENIZER} --kind sentencepiece`,
      data: CHATS,
      options: OWN_MARKS,
      exact: even,
    },
  },
  faulty: {
    ...fourOf('LoRA of PEFT', PEFT),
    ...fourOf('compiled', COMPILED),
    ...fourOf('FSDP2', `${TWO_RANKS} --how fsdp2`, ['prompt', 'eos', 'early']), // Its rows stand alone: no padding.
    'prompt tuning of PEFT is not seen': {
      words: `${PEFT} --kind prompt`,
      data: CHATS,
      unknown: /PeftModelForCausalLM puts 3 virtual tokens before each row/,
    },
    'a model kept compiled with its loss is not seen': {
      words: `${COMPILED} --how loss-inside`,
      data: CHATS,
      options: '--keep-compiled',
      unknown: /LlamaForCausalLM is compiled, and the loss is computed inside of it/,
    },
    'FSDP2, each rank divides by its own tokens': {
      words: `${TWO_RANKS} --how fsdp2 --fault per-rank`,
      data: CHATS,
      // One row in each: undeclared it may be a mean over rows.
      options: `--semantics {"sft_aggregation":"token-mean"}`,
      found: 'loss/independent-of-ranks',
      says: /rank/,
    },
    'ZeRO 1, each rank divides by its own tokens': {
      words: `${TWO_RANKS} --how zero1 --fault per-rank`,
      data: CHATS,
      options: `--semantics {"sft_aggregation":"token-mean"}`,
      found: 'loss/independent-of-ranks',
      says: /rank/,
    },
    'ZeRO 3, the stop token is not trained': {
      words: `${TWO_RANKS} --how zero3 --fault eos`,
      data: CHATS,
      ...STOP,
      says: /im_end/,
    },
    'accelerate, each micro-batch divides by its own tokens': {
      words: `${ACCELERATED} --fault per-micro-batch`,
      data: CHATS,
      // One row in each: undeclared it may be a mean over rows.
      options: `--semantics {"sft_aggregation":"token-mean"}`,
      found: 'loss/independent-of-micro-batches',
      says: /micro-batch/,
    },
    'Lightning, the prompt is trained': {
      words: `${LIGHTNING} --fault prompt`,
      data: CHATS,
      ...PROMPT,
      says: /id \d+/,
    },
    'torchtune trains the header of an answer as it is': {
      words: `${RECIPE} --fault header`,
      data: CHATS,
      options: RECIPE_MARKS,
      found: 'tokenize/only-answers-are-trained',
      says: /start_header_id/,
    },
    'an encoding of tiktoken, the stop token is not trained, marks by ids': {
      words: `${OWN_TOKENIZER} --fault eos`,
      data: CHATS,
      options: OWN_IDS,
      ...STOP,
      says: /assistant_end/,
    },
  },
};

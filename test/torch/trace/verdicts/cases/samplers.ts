// Where completions come from: loops of a script's own, methods that sample, engines, servers; models that are found in odd ways.
import { expect } from 'vitest';
import { ELSEWHERE } from '../correct.ts';
import type { Exact } from '../exact.ts';
import type { Cases, FaultyCase } from '../kinds.ts';

const OWN = 'samplers/own.py';
const ASKED = 'samplers/asked.py';
const TOKEN = /Token \d+/;

interface Drawn {
  readonly count?: number;
  readonly topP?: number;
  readonly topK?: number;
}

/** So many sequences, with these settings and no others, from here; and every trained row holds one of them. */
const sampled =
  (source: string, temperature: number | undefined, { count = 24, topP, topK }: Drawn = {}): Exact =>
  ({ ledger }) => {
    expect(ledger.generations).toHaveLength(count);
    for (const each of ledger.generations)
      expect({ topP: undefined, topK: undefined, ...each }).toMatchObject({
        source,
        temperature,
        topP,
        topK,
      });
    expect(ledger.rows.map(({ spans }) => spans.origin.kind)).toEqual(ledger.rows.map(() => 'generation'));
  };

/** The mistakes of any policy, behind one sampler. */
const fourOf = (sampler: string, words: string): Readonly<Record<string, FaultyCase>> =>
  Object.fromEntries(
    FOUR.map(([fault, found, says]) => [
      `${sampler}: ${fault}`,
      { words: `${words} --fault ${fault}`, found, says },
    ]),
  );

const without = (cases: Cases['faulty'], fault: string): Cases['faulty'] =>
  Object.fromEntries(Object.entries(cases).filter(([name]) => !name.endsWith(fault)));

const FOUR = [
  ['temperature', 'logprobs/divide-by-the-temperature', /0\.7/],
  ['prompt', 'mask/prompt-is-never-trained', TOKEN],
  ['stop-untrained', 'mask/stop-token-is-trained-once', TOKEN],
  ['re-encoded', 'rollout/scored-ids-are-sampled-ids', TOKEN],
] as const;

const PIECES = [
  ["vLLM's AsyncLLM, each output all of an answer so far", 'vllm', 'cumulative'],
  ["vLLM's AsyncLLM, each output what is new of an answer", 'vllm', 'delta'],
  ["vLLM's AsyncLLM, broken off by the script", 'vllm', 'broken'],
  ["SGLang's async_generate", 'sglang', 'whole'],
  ["SGLang's async_generate in pieces", 'sglang', 'cumulative'],
  ["SGLang's generate in pieces", 'sglang', 'at-once'],
] as const;

export const samplers: Cases = {
  clean: {
    'the whole prefix each time, and the likeliest of a share': {
      words: `${OWN} --draw nucleus`,
      exact: sampled('loop', 0.7, { topP: 0.8 }),
      says: /24 sequences by the script's own loop at temperature 0\.7, top-p 0\.8/,
    },
    'a distribution of torch, and a reference': {
      words: `${OWN} --draw categorical --beta 0.04`,
      exact: sampled('loop', 0.7),
    },
    'the smallest of exponential noise': {
      words: `${OWN} --draw exponential`,
      exact: sampled('loop', 0.7),
    },
    'noise of Gumbel': { words: `${OWN} --draw gumbel`, exact: sampled('loop', 0.7) },
    'the likeliest token': { words: `${OWN} --draw greedy`, exact: sampled('loop', undefined) },
    'drawn by another library': { words: `${OWN} --draw elsewhere`, exact: sampled('loop', undefined) },
    'prompts of several lengths, column by column, through methods of the model': {
      words: `${OWN} --loop ragged`,
      exact: sampled('loop', 0.7, { topP: 0.8 }),
    },
    'one prompt remembered for a group, of which rows leave': {
      words: `${OWN} --loop leaving --draw topk`,
      exact: sampled('loop', 0.7, { count: 16, topK: 8 }),
      says: /16 sequences by the script's own loop at temperature 0\.7, top-k 8/,
    },
    'the same, of a script whose tensors lie on a GPU by default': {
      words: `${ELSEWHERE} ${OWN} --loop leaving --draw topk`,
      exact: sampled('loop', 0.7, { count: 16, topK: 8 }),
    },
    "a generate() of the script's own": {
      words: `${OWN} --loop method`,
      exact: sampled('loop', 0.7, { topK: 12 }),
    },
    'the engine of vLLM, as far as a stand-in has its shape': {
      words: `${ASKED} --by vllm`,
      exact: sampled('vllm', 0.7, { topP: 0.9 }),
    },
    'the engine of SGLang, as far as a stand-in has its shape': {
      words: `${ASKED} --by sglang`,
      exact: sampled('sglang', 0.7),
    },
    ...Object.fromEntries(
      PIECES.map(([name, by, pieces]) => [
        `${name}, as far as a stand-in has its shape`,
        {
          words: `${ASKED} --by ${by} --pieces ${pieces}`,
          exact: sampled(by, 0.7, by === 'vllm' ? { topP: 0.9 } : {}),
        },
      ]),
    ),
    'a server that answers token ids, asked by requests': {
      words: `${ASKED} --by requests`,
      exact: sampled('server', 0.7),
    },
    'a server that ends answers with a stop string': {
      words: `${ASKED} --by requests --ends strings`,
      exact: sampled('server', 0.7),
    },
    'an engine that ends answers with a stop string': {
      words: `${ASKED} --by vllm --ends strings`,
      exact: sampled('vllm', 0.7, { topP: 0.9 }),
    },
    "TRL's server, which ends answers with a stop string and does not say so": {
      words: `${ASKED} --by trl --ends strings`,
      exact: sampled('server', 0.7),
    },
    "TRL's server, whose context ends the answers to long prompts": {
      words: `${ASKED} --by trl --ends context`,
      exact: sampled('server', 0.7),
    },
    "TRL's server": { words: `${ASKED} --by trl`, exact: sampled('server', 0.7) },
  },
  faulty: {
    ...fourOf('the likeliest of a share', `${OWN} --draw nucleus`),
    ...fourOf('lengths that differ, by methods', `${OWN} --loop ragged`),
    // None of its rows stops: the fourth is another one.
    ...without(fourOf('a generate() of its own', `${OWN} --loop method`), 'stop-untrained'),
    'a generate() of its own: the reference is given other rows': {
      words: `${OWN} --loop method --beta 0.04 --fault reference`,
      found: 'trace/reference-sees-the-same-rows',
      says: /row \d+/,
    },
    'a distribution of torch, and the stop is not trained': {
      words: `${OWN} --draw categorical --fault stop-untrained`,
      found: 'mask/stop-token-is-trained-once',
      says: TOKEN,
    },
    'rows that leave, trained past their stop': {
      words: `${OWN} --loop leaving --draw topk --fault past-the-stop`,
      found: 'mask/padding-is-never-trained',
      says: TOKEN,
    },
    'the reference is given other rows': {
      words: `${OWN} --draw nucleus --beta 0.04 --fault reference`,
      found: 'trace/reference-sees-the-same-rows',
      says: /row \d+/,
    },
    'answers of an engine that were decoded and tokenised again': {
      words: `${ASKED} --by vllm --fault re-encoded`,
      found: 'rollout/scored-ids-are-sampled-ids',
      says: TOKEN,
    },
    'answers of a server without their stop': {
      words: `${ASKED} --by requests --fault stripped`,
      found: 'mask/stop-token-is-trained-once',
      says: /ends without it/,
    },
    'answers of an engine, scored without the temperature': {
      words: `${ASKED} --by sglang --fault temperature`,
      found: 'logprobs/divide-by-the-temperature',
      says: /0\.7/,
    },
    'answers of a server, asked by urllib, with their prompts trained': {
      words: `${ASKED} --by urllib --fault prompt`,
      found: 'mask/prompt-is-never-trained',
      says: TOKEN,
    },
    'answers of a server that says their text alone': {
      words: `${ASKED} --by text`,
      unknown:
        /No verdict: .*no sampled tokens were seen; if the script samples in its own way, add after it: lossproof_trace\.watch_sample/,
    },
    'answers of a server, asked by httpx, trained past their stop': {
      words: `${ASKED} --by httpx --fault past-the-stop`,
      found: 'mask/nothing-after-the-stop-is-trained',
      says: TOKEN,
    },
  },
};

// `init`: an adapter that runs at once, to be filled with the user's own functions, and a configuration that
// names it. Never writes over a file unless told to.
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Context, refuse, say } from './context.ts';
import { HOLDS } from './exit.ts';
import type { Invocation } from './options.ts';

export function addInit(program: Command, { context, finish }: Invocation): void {
  program
    .command('init')
    .description('write an adapter to start from, and a configuration that names it')
    .option('--force', 'write over files that are there')
    .addHelpText('after', EXAMPLES)
    .action((options: { readonly force?: boolean }) => finish(init(options.force === true, context)));
}

const EXAMPLES = `
Examples:
  npx trainproof init
  npx trainproof init --force`;

function init(force: boolean, context: Context): number {
  const taken = FILES.filter(([name]) => existsSync(resolve(context.cwd, name))).map(([name]) => name);
  if (taken.length > 0 && !force) {
    return refuse(context, {
      problem: `${taken.join(' and ')} ${taken.length === 1 ? 'is' : 'are'} already here; --force writes over`,
    });
  }
  for (const [name, content] of FILES) {
    try {
      // `wx` closes the gap between looking and writing.
      writeFileSync(resolve(context.cwd, name), content, { flag: force ? 'w' : 'wx' });
    } catch (error) {
      return refuse(context, {
        problem: `${name} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      });
    }
  }
  say(
    context,
    `wrote ${FILES.map(([name]) => name).join(' and ')}`,
    '',
    'Next:',
    '  npx trainproof doctor',
    '  npx trainproof check',
  );
  return HOLDS;
}

const ADAPTER = `"""Adapter: answers trainproof's questions about one trainer. Put your own functions in place of these.

An op is a function; it takes the arguments of PROTOCOL.md that it needs, by name, as plain lists, (B, T).
serve(..., arrays="torch") hands you tensors instead. What you print goes to stderr.
"""
import trainproof  # first: from here on, standard output belongs to the protocol


@trainproof.op
def mask(prompt_ids, completion_ids, sequences, attention_mask, prompt_width, pad_token_id, eos_token_ids):
    """Which tokens are trained: 1 from the first completion token to the stop token, on [padding|prompt|completion|padding]."""
    width = len(sequences[0])
    rows = [[0] * prompt_width + [1] * len(ids) for ids in completion_ids]
    return {"completion_mask": [row + [0] * (width - len(row)) for row in rows]}


@trainproof.op
def kl(logprobs, ref_logprobs, completion_mask):
    """k3 = exp(d) - d - 1 with d = ref_logprobs - logprobs, per token, where the mask is 1."""
    from math import exp
    def k3(logprob, ref): return exp(ref - logprob) - (ref - logprob) - 1
    rows = zip(logprobs, ref_logprobs, completion_mask)
    return {"kl": [[k3(p, r) if real else 0.0 for p, r, real in zip(*row)] for row in rows]}


trainproof.serve(name="my-trainer", semantics={"kl_estimator": "k3"}, dtype="float64")
`;

const CONFIG = `${JSON.stringify({ trainer: 'python3 adapter.py', cases: 100, level: 'must' }, null, 2)}\n`;

const FILES = [
  ['adapter.py', ADAPTER],
  ['trainproof.config.json', CONFIG],
] as const;

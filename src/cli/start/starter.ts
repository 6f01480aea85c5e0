// The files that `init` writes. They run as they are, and everything holds: whoever puts their own functions in place
// of these sees at once which of them does not.

const ADAPTER = `"""Answers lossproof's questions about one trainer. It runs as it is: \`npx lossproof check\`."""
import math
import lossproof  # first: from here on standard output belongs to the protocol, and a print goes to stderr


# Your trainer. Put your own in place of these two functions: from my_trainer import loss_mask, kl_penalty

def loss_mask(prompt_width, completion_ids, width):
    rows = [[0] * prompt_width + [1] * len(ids) for ids in completion_ids]
    return [row + [0] * (width - len(row)) for row in rows]

def kl_penalty(logprob, ref_logprob):
    return math.exp(ref_logprob - logprob) - (ref_logprob - logprob) - 1


# The adapter. An op is a function; it takes what it needs of the op's arguments, by name, as lists of rows.

@lossproof.op
def mask(sequences, prompt_width, completion_ids):
    """1 where a token is trained. Rows are [padding, prompt, completion with its stop token, padding]."""
    return {"completion_mask": loss_mask(prompt_width, completion_ids, len(sequences[0]))}

@lossproof.op
def kl(logprobs, ref_logprobs, completion_mask):
    """The estimate for each token, where completion_mask is 1."""
    rows = zip(logprobs, ref_logprobs, completion_mask)
    return {"kl": [[kl_penalty(p, ref) if m else 0.0 for p, ref, m in zip(*row)] for row in rows]}

# Next: logprobs, advantages, loss. All ops with their arguments: node_modules/lossproof/PROTOCOL.md
# arrays="torch" hands tensors over instead of lists. Arrays of one column less, (B, T-1), are a layout to declare:
# layout={"alignment": "predictor", "span": "row"}, here for all ops or in @lossproof.op(...) for one.
# What your trainer chose among legal variants goes into semantics; \`npx lossproof profile\` measures it.
lossproof.serve(name="my-trainer", semantics={"kl_estimator": "k3"})
`;

/** `python`: the one that the adapter is started with. `$schema`: where an editor finds what the keys may be. */
export function starterConfig(python: string, $schema?: string): string {
  const named = $schema === undefined ? {} : { $schema };
  return `${JSON.stringify({ ...named, trainer: `${python} adapter.py`, cases: 100, level: 'must' }, null, 2)}\n`;
}

const TEST = `// The trainer of lossproof.config.json, one test per property. \`npm test\` runs it.
import { testTrainer } from 'lossproof/vitest';

testTrainer();
`;

/** File name to content. */
export const STARTER = {
  'adapter.py': ADAPTER,
  'lossproof.config.json': starterConfig('python3'),
  'trainer.test.ts': TEST,
} as const;
export type StarterFile = keyof typeof STARTER;

// What a twin run changes: one thing each, that must not change what is trained. The tracer makes the change inside of the
// process (src/python/lossproof_trace/twins/), the command line starts it.

export interface Change {
  readonly name: string;
  /** What the second run does, for a list. */
  readonly sentence: string;
  /** Draws of dropout come in another order or shape, so that no run has any. */
  readonly withoutDropout?: true;
  /** What it changes, where the script may have nothing of the kind: batches of a torch DataLoader, arguments of transformers' Trainer, or what the tracer looks for in the run without a change. */
  readonly of?: 'batches' | 'arguments' | 'seen';
  /** Rows that both runs have must get the same probabilities in the first step, and nothing else is compared. */
  readonly ofRows?: true;
  /** It moves all numbers: how far is reported, as a size. Made only where it is named. */
  readonly ofSize?: true;
  /** The script's own command is asked for it; undefined: the tracer makes the change, and says that it did. */
  readonly command?: (command: readonly string[]) => readonly string[] | undefined;
  /** Where it cannot be made, for the user. */
  readonly lacks: string;
}

export const CHANGES: readonly Change[] = [
  {
    name: 'repeat',
    sentence: 'nothing changes: is the script the same twice?',
    command: (command) => command,
    lacks: '',
  },
  {
    name: 'batch-order',
    sentence: 'the rows of each batch come in reverse order',
    of: 'batches',
    withoutDropout: true,
    lacks: 'no batch of two rows or more came from a torch DataLoader',
  },
  {
    name: 'mates',
    sentence: 'the other rows of a batch are replaced',
    of: 'batches',
    withoutDropout: true,
    ofRows: true,
    lacks: 'no batch of two rows or more came from a torch DataLoader',
  },
  {
    name: 'padding',
    sentence: 'each batch has three more columns of padding',
    of: 'batches',
    withoutDropout: true,
    lacks: 'no batch with input_ids, attention_mask and labels came from a torch DataLoader',
  },
  {
    name: 'packing',
    sentence: 'packed rows are taken apart: a padded row for each example',
    of: 'seen',
    withoutDropout: true,
    lacks: 'no batch of a torch DataLoader has rows of several examples, told by positions or lengths',
  },
  {
    name: 'accumulation',
    sentence: 'a step has one micro-batch for several, or two for one',
    of: 'arguments',
    withoutDropout: true,
    lacks:
      'the arguments are none of transformers or TRL, or a step has one row; give the arguments of your script with --with',
  },
  {
    name: 'ranks',
    sentence: 'two processes have half of the rows each',
    of: 'arguments',
    withoutDropout: true,
    command: distributed,
    lacks:
      'the arguments are none of transformers or TRL, or the rows of a step cannot be halved; write the second command after ---',
  },
  {
    name: 'resume',
    sentence: 'the run goes on from a checkpoint of its own',
    of: 'arguments',
    lacks:
      'the trainer is none of transformers or TRL, or saves the model only; give the arguments of your script with --save-args and --resume-args',
  },
  {
    name: 'attention',
    sentence: 'eager attention in place of another, or sdpa in place of eager',
    of: 'seen',
    withoutDropout: true,
    lacks: 'the model is none of transformers, or has one attention only',
  },
  {
    name: 'checkpointing',
    sentence: 'gradient checkpointing on in place of off, or off in place of on',
    of: 'seen',
    lacks: 'the model is none of transformers, or cannot do it',
  },
  {
    name: 'merged',
    sentence: 'LoRA adapters are merged into the weights',
    of: 'seen',
    withoutDropout: true,
    ofRows: true,
    lacks: 'the model has no LoRA adapters of PEFT that can be merged',
  },
  {
    name: 'compile',
    sentence: 'what the script compiles runs compiled, in place of as written',
    of: 'seen',
    withoutDropout: true,
    lacks: 'the script calls nothing that torch.compile made',
  },
  {
    name: 'precision',
    sentence: 'bfloat16 in place of float32, or back: reported as a size',
    of: 'seen',
    withoutDropout: true,
    ofSize: true,
    lacks: 'the weights of the model are not all float32',
  },
];

/** By torchrun, with two processes; undefined: it is no Python script, or has a launcher of its own. */
function distributed([python = '', ...rest]: readonly string[]): readonly string[] | undefined {
  if (!/(^|[/\\])python[\d.]*(\.exe)?$/.test(python)) return undefined;
  const module = rest[0] === '-m';
  if (module && /^(torch\.distributed|accelerate|deepspeed)/.test(rest[1] ?? '')) return undefined;
  if (!module && rest[0]?.startsWith('-') !== false) return undefined;
  const launched = module ? ['--module', ...rest.slice(1)] : rest;
  return [python, '-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', '2', ...launched];
}

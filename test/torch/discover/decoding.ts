// Functions that sample, penalise and cut, as trainers write them, each with a bug; and functions beside them that do something else.
export interface Decoding {
  readonly name: string;
  readonly op: 'sampling' | 'penalties' | 'truncate';
  readonly source: string;
  /** Of its adapter: how it is called. */
  readonly called: string;
  readonly bug: readonly [right: string, wrong: string];
}

const FILTER = `import torch
import torch.nn.functional as F


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0, filter_value=-float("Inf")):
    top_k = min(top_k, logits.size(-1))
    if top_k > 0:
        logits[logits < torch.topk(logits, top_k)[0][..., -1, None]] = filter_value
    if top_p < 1.0:
        sorted_logits, sorted_indices = torch.sort(logits, descending=True)
        mass = torch.cumsum(F.softmax(sorted_logits, dim=-1), dim=-1)
        remove = mass > top_p
        remove[..., 1:] = remove[..., :-1].clone()
        remove[..., 0] = 0
        logits[remove.scatter(1, sorted_indices, remove)] = filter_value
    return logits
`;

export const SAMPLERS: readonly Decoding[] = [
  {
    name: 'a filter of logits, in place',
    op: 'sampling',
    source: FILTER,
    called: 'top_k_top_p_filtering(logits, top_k, top_p)',
    bug: ['        remove[..., 1:] = remove[..., :-1].clone()\n', ''],
  },
  {
    name: 'a token by multinomial, top-k that may be None',
    op: 'sampling',
    source: `import torch


def sample_next_token(logits, temperature=1.0, top_k=None):
    logits = logits / temperature
    if top_k is not None:
        v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
        logits[logits < v[:, [-1]]] = -float("Inf")
    probs = torch.softmax(logits, dim=-1)
    return torch.multinomial(probs, num_samples=1)
`,
    called: 'top_k or None',
    bug: ['logits < v', 'logits <= v'],
  },
  {
    name: 'a nucleus of sorted probabilities, drawn among them',
    op: 'sampling',
    source: `import torch


def sample_top_p(probs, p):
    probs_sort, probs_idx = torch.sort(probs, dim=-1, descending=True)
    mask = probs_sort.cumsum(-1) - probs_sort > p
    probs_sort[mask] = 0.0
    probs_sort = probs_sort / probs_sort.sum(dim=-1, keepdim=True)
    next_token = torch.multinomial(probs_sort, num_samples=1)
    return torch.gather(probs_idx, -1, next_token)
`,
    called: 'sample_top_p(logits.softmax(-1), top_p), *logits.shape)',
    bug: ['return torch.gather(probs_idx, -1, next_token)', 'return next_token'],
  },
  {
    name: 'probabilities',
    op: 'sampling',
    source: `import torch


def logits_to_probs(logits, temperature: float = 1.0, top_k: int = None):
    logits = logits / max(temperature, 1e-5)
    if top_k is not None:
        pivot = torch.topk(logits, min(top_k, logits.size(-1)))[0][..., -1:]
        logits = torch.where(logits < pivot, -float("Inf"), logits)
    return torch.nn.functional.softmax(logits, dim=-1)
`,
    called: '.log()',
    bug: ['logits / max(temperature, 1e-5)', 'logits * max(temperature, 1e-5)'],
  },
  {
    name: 'one row, a distribution of torch',
    op: 'sampling',
    source: `import torch


def sample_token(next_logits, temperature):
    return torch.distributions.Categorical(logits=next_logits / temperature).sample().item()
`,
    called: 'logits[row], temperature',
    bug: ['next_logits / temperature', 'next_logits'],
  },
];

export const PENALTIES: readonly Decoding[] = [
  {
    name: 'a presence penalty, row by row',
    op: 'penalties',
    source: `import torch


def apply_presence_penalty(logits, generated_ids, presence_penalty):
    for row, ids in enumerate(generated_ids):
        seen = torch.unique(torch.as_tensor(ids, dtype=torch.long))
        logits[row, seen] -= presence_penalty
    return logits
`,
    called: 'presence_penalty',
    bug: ['-= presence', '+= presence'],
  },
  {
    name: 'both by a table of counts',
    op: 'penalties',
    source: `import torch


def apply_penalties(logits, output_tokens, frequency_penalty, presence_penalty):
    counts = torch.zeros_like(logits)
    counts.scatter_add_(1, output_tokens, torch.ones_like(output_tokens, dtype=logits.dtype))
    return logits - frequency_penalty * counts - presence_penalty * (counts > 0)
`,
    called: 'frequency_penalty, presence_penalty',
    bug: ['- presence_penalty * (counts > 0)', '- presence_penalty * counts'],
  },
  {
    name: 'a repetition penalty of whole rows',
    op: 'penalties',
    source: `import torch


def apply_repetition_penalty(scores, input_ids, penalty):
    for row, ids in zip(scores, input_ids):
        ids = torch.as_tensor(ids, dtype=torch.long)
        picked = row[ids]
        row[ids] = torch.where(picked < 0, picked * penalty, picked / penalty)
    return scores
`,
    called: 'repetition_penalty',
    bug: ['torch.where(picked < 0, picked * penalty, picked / penalty)', 'picked / penalty'],
  },
  {
    name: 'a processor that knows where the prompt ends',
    op: 'penalties',
    source: `import torch


class FrequencyPenaltyLogitsProcessor:
    def __init__(self, frequency_penalty, prompt_length):
        self.frequency_penalty = frequency_penalty
        self.prompt_length = prompt_length

    def __call__(self, input_ids, scores):
        generated = input_ids[:, self.prompt_length :]
        counts = torch.zeros_like(scores).scatter_add(1, generated, torch.ones_like(generated, dtype=scores.dtype))
        return scores - self.frequency_penalty * counts
`,
    called: 'prompt_length=prompt_width',
    bug: ['input_ids[:, self.prompt_length :]', 'input_ids[:, self.prompt_length - 1 :]'],
  },
  {
    name: 'one row of plain Python',
    op: 'penalties',
    source: `def penalize(logits, tokens, presence_penalty, frequency_penalty):
    out = list(logits)
    for token in set(tokens):
        out[token] -= presence_penalty + frequency_penalty * tokens.count(token)
    return out
`,
    called: 'presence_penalty, frequency_penalty',
    bug: ['for token in set(tokens)', 'for token in tokens'],
  },
];

export const CUTS: readonly Decoding[] = [
  {
    name: 'a dict of columns',
    op: 'truncate',
    source: `def truncate_example(example, max_length):
    return {key: values[:max_length] for key, values in example.items()}
`,
    called: '{"input_ids": input_ids[row], "labels": labels[row]}',
    bug: ['[:max_length]', '[:max_length + 1]'],
  },
  {
    name: 'ids alone, the end of them',
    op: 'truncate',
    source: `def truncate_ids(input_ids, max_len):
    return input_ids[-max_len:]
`,
    called: 'for row in labels',
    bug: ['[-max_len:]', '[max_len:]'],
  },
  {
    name: 'ids and labels of an example',
    op: 'truncate',
    source: `def truncate_pair(ids, labels, max_seq_len):
    return ids[:max_seq_len], labels[:max_seq_len]
`,
    called: 'labels[row], max_length',
    bug: ['labels[:max_seq_len]', 'labels[-max_seq_len:]'],
  },
  {
    name: 'a batch',
    op: 'truncate',
    source: `def crop_sequences(input_ids, labels, max_length):
    return [row[:max_length] for row in input_ids], [row[:max_length] for row in labels]
`,
    called: 'crop_sequences(input_ids, labels, max_length)',
    bug: ['[row[:max_length] for row in labels]', 'labels'],
  },
];

/** Right, and nothing of these ops: left alone, and never blamed. */
export const OTHERS: readonly (readonly [name: string, source: string])[] = [
  [
    'a threshold relative to the likeliest token',
    `import torch


def min_p_filtering(logits, min_p):
    probs = torch.softmax(logits, -1)
    return logits.masked_fill(probs < min_p * probs.max(-1, keepdim=True)[0], -float("inf"))
`,
  ],
  [
    'tokens of typical surprise',
    `import torch


def typical_filtering(logits, mass=0.9):
    logp = torch.log_softmax(logits, -1)
    surprise = (-logp - (-(logp.exp() * logp).sum(-1, keepdim=True))).abs()
    order = surprise.argsort(-1)
    kept = logp.exp().gather(-1, order).cumsum(-1) < mass
    kept[..., 0] = True
    return logits.masked_fill(~torch.zeros_like(kept).scatter(-1, order, kept), -float("inf"))
`,
  ],
  [
    'a bias on some tokens',
    `import torch


def apply_logit_bias(logits, token_ids, bias_penalty):
    logits = logits.clone()
    logits[:, token_ids[0]] -= bias_penalty
    return logits
`,
  ],
  [
    'a cut that ends with a stop token',
    `def truncate_with_eos(input_ids, labels, max_length, eos_token_id=2):
    if len(input_ids) <= max_length:
        return input_ids, labels
    return input_ids[: max_length - 1] + [eos_token_id], labels[: max_length - 1] + [eos_token_id]
`,
  ],
  [
    'a pair whose parts share the room',
    `def truncate_seq_pair(prompt_ids, completion_ids, max_length):
    prompt_ids, completion_ids = list(prompt_ids), list(completion_ids)
    while len(prompt_ids) + len(completion_ids) > max_length:
        (prompt_ids if len(prompt_ids) > len(completion_ids) else completion_ids).pop()
    return prompt_ids, completion_ids
`,
  ],
];

"""Six trainers with the bugs that this project grew from, written as people really wrote them.

`python -m lossproof.examples.faulty NAME`; `--list` prints them as JSON. Each docstring is the story and the fix.
"""

from . import left_padded, stop_excluded
from .lists import beside, pad_left, pad_right, through_stop
from .pipelines import replay
from .rollouts.penalties import counted, repeated
from .text.chat import EOS_IDS, chat_ids, chat_text, tokenizer
from .variants import Variants

FAULTY = Variants()


def sft_text(messages):
    return "\n\n".join(message["content"] for message in messages)


@FAULTY.add(
    "sft-rl-template",
    "SFT joins prompt and response with a blank line, RL uses the chat template",
    left_padded,
    "tokenize",
    rows=("TPL-06",),
    property_hint="tokenize/*",
)
def tokenize_pair(route, messages, add_generation_prompt):
    """The SFT script came first and joined prompt and response with a blank line; the RL loop, written later,
    used the chat template. The model was fine-tuned on a format that it never met again, and never saw a header
    or a stop token before RL punished it for not emitting one. Fix: one function renders for both routes."""
    if route == "rl":
        return {"input_ids": chat_ids(messages, add_generation_prompt)}
    ids = tokenizer.encode(sft_text(messages))
    prompt = (
        tokenizer.encode(sft_text(messages[:-1]) + "\n\n") if messages[-1]["role"] == "assistant" else ids
    )
    return {"input_ids": ids, "labels": [-100] * len(prompt) + ids[len(prompt) :]}


def render_pair(route, messages, add_generation_prompt):
    return {"text": chat_text(messages, add_generation_prompt) if route == "rl" else sft_text(messages)}


# The same mistake as the two ops show it.
FAULTY["sft-rl-template"].ops["render"] = render_pair


@FAULTY.add(
    "penalty-over-prompt",
    "Presence and frequency penalties count the tokens of the prompt",
    left_padded,
    rows=("PEN-01",),
    property_hint="penalties/*",
)
def penalties(input_ids, attention_mask, logits, presence_penalty, frequency_penalty, repetition_penalty):
    """A word that stood twenty times in the prompt lost eight points of logit before anything was generated, and
    the stop token, which stood nowhere, won: completions of one token. Fix: count from the prompt's width on."""
    out = []
    for ids, real, row in zip(input_ids, attention_mask, logits):
        seen = [id for id, is_real in zip(ids, real) if is_real]
        row = repeated(row, seen, repetition_penalty)
        out.append(counted(row, seen, presence_penalty, frequency_penalty))
    return {"logits": out}


@FAULTY.add(
    "kl-on-raw-prompt",
    "Completions are generated from the formatted prompt and scored after the raw one",
    left_padded,
    rows=("TPL-07",),
    property_hint="rollout/*",
)
def rollout(conversations, sampled_ids):
    """Generation formatted the prompts in a local variable; the training step went back to the original strings.
    KL, ratio and loss were those of completions behind prompts that the model never saw. Fix: return the
    formatted prompts from generation, and score those."""
    prompt_ids = [chat_ids(messages, True) for messages in conversations]
    raw = [tokenizer.encode(messages[-1]["content"]) for messages in conversations]
    prompts, prompt_real = pad_left(raw, left_padded.PAD_ID)
    completions, real = pad_right(sampled_ids, left_padded.PAD_ID)
    return {
        "prompt_ids": prompt_ids,
        "input_ids": beside(prompts, completions),
        "attention_mask": beside(prompt_real, real),
        "completion_mask": [left_padded.completion_mask(*row, EOS_IDS) for row in zip(completions, real)],
    }


@FAULTY.add(
    "count-as-position",
    "The number of real prompt tokens is taken for the column where the completion begins",
    left_padded,
    rows=("PAD-01",),
    property_hint="extract/*",
)
def extract(attention_mask, sequences, eos_token_ids):
    """Three real tokens, so the completion starts at column three: true only without padding on the left. The
    judge was shown the tail of the prompt, and rewarded it. A batch of one row never shows it. Fix: start at
    the width of the padded prompts, the same for every row."""
    completions = []
    for real, row in zip(attention_mask, sequences):
        start = sum(real)
        completions.append(through_stop(row[start:], eos_token_ids))
    return {"completion_ids": completions}


@FAULTY.add(
    "mask-for-right-padding",
    "The completion mask is placed for right padding on rows that are padded on the left",
    stop_excluded,
    rows=("PAD-02",),
    property_hint="mask/*",
)
def mask(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """valid_len - completion_len is where the completion begins when padding is behind it. The tokenizer padded in
    front, so loss and KL were taken on padding and prompt, and the last tokens of the completion were never
    trained. Fix: on rows that end with the completion it begins at T - completion_len."""
    right = stop_excluded.mask(prompt_ids, completion_ids, pad_token_id, eos_token_ids)
    wrong = []
    for real, completion in zip(right["attention_mask"], completion_ids):
        said, stop = stop_excluded.before_stop(completion, eos_token_ids)
        start = sum(real) - len(said) - len(stop)
        wrong.append([1 if start <= t < start + len(said) else 0 for t in range(len(real))])
    return dict(right, completion_mask=wrong)


@FAULTY.add(
    "batch-by-length",
    "A batch of three elements is read as another batch of three elements",
    left_padded,
    rows=("ZL-01",),
    property_hint="contract/*",
)
def contract(order, segments, enabled):
    """The buffer hands over (current, target, segments). The policy knew two kinds of batch and told them apart by
    their length: four elements with the iteration, or three, which it took for (current, target, train_iter). So
    segments was None, every language-model loss was skipped, and the log said 0.0 for days. Fix: hand over by
    name, and fail where a name is missing."""
    data = replay.sample(order, segments)
    if len(data) == 4:
        _current_batch, _target_batch, _train_iter, game_segments = data
    else:
        _current_batch, _target_batch, _train_iter = data
        game_segments = None
    if game_segments is not None:
        return replay.learn({"segments": game_segments}, enabled)
    return {
        "executed": {name: 0 for name in enabled},
        "trained_tokens": {name: 0 for name in enabled},
        "losses": {name: 0.0 for name in enabled},
    }


if __name__ == "__main__":
    FAULTY.main("lossproof.examples.faulty")

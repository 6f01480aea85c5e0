"""Wrong boundaries between the prompt and what is trained, found by tokenising each alone."""

from lossproof.examples import left_padded
from lossproof.examples.text.chat import STOP_ID, chat_labels, chat_text, tokenizer

from ..registry import MUTANTS

IGNORED = -100


@MUTANTS.add(
    "sft-boundary-by-the-prompt-alone",
    "Labels begin at the length of the prompt tokenised alone",
    left_padded,
    row="TOK-05",
)
def tokenize(route, messages, add_generation_prompt):
    """len(tokenizer(prompt)), whose post-processing ends every text with the stop token; the row itself is tokenised as
    one text. The first token of the last answer is never trained. Fix: tokenise both parts without special tokens and
    put the ids together."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "rl" or not messages or messages[-1]["role"] != "assistant":
        return right
    alone = len(tokenizer.encode(chat_text(messages[:-1], True)) + [STOP_ID])
    begun = len(chat_labels(messages[:-1], False))
    kept = chat_labels(messages, add_generation_prompt)
    return dict(right, labels=[IGNORED if begun <= t < alone else id for t, id in enumerate(kept)])

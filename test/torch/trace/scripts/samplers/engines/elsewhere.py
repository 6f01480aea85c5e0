"""What stands for an engine's model: letters at random, a stop now and then, never anything else."""

import random

# Its last token stands inside of other answers, as that of most stop strings does.
STRING = "ab"


def sampled(prompt, tokenizer, most, seed, stop=None):
    """(ids, what ended them): the id of the stop token, or `stop`, a stop string; None for the limit."""
    draw = random.Random(seed * 1000 + sum(prompt))
    ending = tokenizer.encode(stop or "", add_special_tokens=False)
    ids = []
    while len(ids) < most:
        ids.append(tokenizer.eos_token_id if draw.random() < 0.15 and ids else draw.randrange(3, len(tokenizer)))
        if ending and draw.random() < 0.7:
            ids[-1] = draw.choice(ending)
        if ids[-1] == tokenizer.eos_token_id:
            return ids, tokenizer.eos_token_id
        if ending and ids[-2:] == ending:
            return ids, stop
    return ids, None

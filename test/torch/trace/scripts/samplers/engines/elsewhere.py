"""What stands for an engine's model: letters at random, a stop now and then, never anything else."""

import random


def sampled(prompt, tokenizer, most, seed):
    draw = random.Random(seed * 1000 + sum(prompt))
    ids = []
    while len(ids) < most:
        ids.append(tokenizer.eos_token_id if draw.random() < 0.15 and ids else draw.randrange(3, len(tokenizer)))
        if ids[-1] == tokenizer.eos_token_id:
            return ids, True
    return ids, False

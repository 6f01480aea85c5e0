"""A model to fine-tune, as users have one: it has learnt a small language of words of letters, well enough to spell and to end
its sentences, and has a dialect of it still to learn. Trained once for all runs, in seconds."""

import os
import random
import tempfile

import tiny
import torch
import transformers

WORDS = "sun rain door lamp sea bird stone river cloud leaf moon path fish wind star boat root snow hill song field wolf fire milk".split()
# How often a word is followed by each of those that may follow it: nobody can guess every word.
ODDS = (0.45, 0.3, 0.15, 0.1)
STEPS, ROWS, RATE = 400, 16, 3e-3


def grammar(seed):
    """What may follow each word."""
    draw = random.Random(seed)
    return {word: draw.sample(WORDS, len(ODDS)) for word in WORDS}


LANGUAGE, DIALECT = grammar(1), grammar(2)


def said(draw, follows, word, count):
    """`count` words that follow `word`, each behind a space."""
    words = []
    for _ in range(count):
        word = draw.choices(follows[word], ODDS)[0]
        words.append(" " + word)
    return "".join(words)


def tokenizer_of(padding_side="left"):
    return tiny.letters(padding_side=padding_side)


def untrained(tokenizer):
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.05,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    transformers.set_seed(0)
    return transformers.LlamaForCausalLM(config)


def train():
    tokenizer = tokenizer_of("right")
    model = untrained(tokenizer)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0)
    schedule = transformers.get_scheduler("cosine", optimiser, num_warmup_steps=20, num_training_steps=STEPS)
    draw = random.Random(0)
    for _ in range(STEPS):
        firsts = [draw.choice(WORDS) for _ in range(ROWS)]
        texts = [first + said(draw, LANGUAGE, first, draw.randint(2, 7)) + "<eos>" for first in firsts]
        batch = tokenizer(texts, return_tensors="pt", padding=True, return_token_type_ids=False)
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, tiny.IGNORE)
        model(**batch, labels=labels).loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        schedule.step()
    return model


def base(folder):
    """The folder with the model: trained if it is not there. Of two processes that do so at once, one is too late."""
    if not os.path.exists(folder):
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        made = tempfile.mkdtemp(dir=os.path.dirname(folder))
        train().save_pretrained(made)
        try:
            os.rename(made, folder)
        except OSError:
            pass
    return folder

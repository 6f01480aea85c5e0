"""From prompts to the batch that is scored: what is cut out of generated rows (extract), where its tokens are in the row that is made
of it (mask), and the training loop itself up to there (rollout)."""

from types import SimpleNamespace

import lossproof
import tqdm.auto
from lossproof.adapters.common._standin import same_ids
from lossproof.adapters.grpo_dual._heard import Heard, Sampler
from lossproof.adapters.grpo_dual._model import codec, tokenizer, tokens
from lossproof.adapters.grpo_dual._parts import silent, trainer
from lossproof.adapters.grpo_dual.texts import question
from lossproof.testing import replaced, spy

import torch


@lossproof.op
def extract(prompt_ids, sampled_ids, pad_token_id, eos_token_ids):
    """generate_candidates_batch, which hands completions on as text, without special tokens."""
    same_ids(tokens, pad_token_id, eos_token_ids)
    heard = Heard(codec, [codec.decode(ids) for ids in prompt_ids])
    model = Sampler(heard, sampled_ids)
    width = max(1, *map(len, sampled_ids))
    texts = trainer.generate_candidates_batch(model, heard, "cpu", [""] * len(prompt_ids), 1, max_new_tokens=width)[0]
    return {"completion_ids": [codec.encode(text) for [text] in texts]}


@lossproof.op
def mask(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """_tokenize_concat, of texts that have their stop token: that the trainer loses it before is seen by rollout."""
    same_ids(tokens, pad_token_id, eos_token_ids)
    prompts, completions = ([codec.decode(ids) for ids in rows] for rows in (prompt_ids, completion_ids))
    return laid(trainer._tokenize_concat(codec, prompts, completions, list(map(len, completion_ids)), "cpu"))


def laid(batch):
    """A batch of the trainer; its mask is of what each column but the last predicts."""
    rows, trained = batch
    return {
        "input_ids": rows["input_ids"],
        "attention_mask": rows["attention_mask"],
        "completion_mask": torch.nn.functional.pad(trained, (1, 0)).long(),
    }


@lossproof.op
def rollout(conversations, sampled_ids):
    """grpo_train with one candidate per question, up to the batch that it scores."""
    heard = Heard(tokenizer, conversations)
    model = Sampler(heard, sampled_ids)
    questions = [trainer.Sample(str(at), "hallucination", question(each)) for at, each in enumerate(conversations)]
    dataset = SimpleNamespace(get_balanced_batch=lambda _: questions)
    judge = SimpleNamespace(evaluate=lambda *_: {"final": 0.5})
    quiet = {"TrainingMetrics": silent}  # it writes files
    with replaced(trainer, **quiet), replaced(trainer.config, K_ROLLOUTS=1, GRPO_STEPS=1), progress_hidden():
        with spy(trainer, "_tokenize_concat", stop="after") as batches:
            trainer.grpo_train(model, model, heard, torch.device("cpu"), dataset, judge, None)
    heard.accepted()
    return {"prompt_ids": [model.prompts[at] for at in range(len(conversations))], **laid(batches.only.result)}


def progress_hidden():
    return replaced(tqdm.auto, tqdm=lambda steps, **_: steps)

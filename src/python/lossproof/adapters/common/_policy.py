"""The joints at which the on-policy trainers of every TRL can be asked: what goes into generation, what comes out of
it, the scores of tokens, and one optimiser step. Where a version has no such method, the next one further out is used;
what a method returns is looked at once, on a rollout of one token, and never assumed."""

import contextlib

import torch

from ... import Reject
from ...testing import Table, recorded_backward, replaced, spy
from ._standin import rendering
from ._tiny import VERSION
from ._trl import logged

SCORING = ("_get_per_token_logps_and_entropies", "_get_per_token_logps")
ROLLOUT = ("_generate_and_score_completions", "_prepare_inputs")


class Given:
    """A tokenizer that answers every call with these prompts, padded by itself; else the tokenizer."""

    def __init__(self, tokenizer, prompt_ids):
        self._tokenizer, self._prompt_ids = tokenizer, prompt_ids

    def __getattr__(self, name):
        return getattr(self._tokenizer, name)

    def __call__(self, *_, padding_side="left", **__):
        return self._tokenizer.pad({"input_ids": self._prompt_ids}, padding_side=padding_side, return_tensors="pt")


class Policy:
    """A GRPOTrainer or RLOOTrainer that is asked."""

    def __init__(self, trainer, tokenizer):
        self.trainer, self.tokenizer = trainer, tokenizer
        self.pad, self.eos = tokenizer.pad_token_id, tokenizer.eos_token_id
        self.scoring = next(name for name in SCORING if hasattr(trainer, name))
        self._rollout = getattr(trainer, next(name for name in ROLLOUT if hasattr(trainer, name)))
        self.hands_over = hasattr(trainer, "_generate_single_turn")
        self._generated = self._scored = None
        with contextlib.ExitStack() as stack:
            if self.hands_over:
                turns = stack.enter_context(spy(trainer, "_generate_single_turn"))
            scores = stack.enter_context(spy(trainer, self.scoring))
            batch = self.rollout([[0, 1]], sampled=[[2, self.eos]])
            self.loss(batch)
            if self.hands_over:
                self._generated = turns.only.result
            self._scored = scores.last.result

    # Rollouts

    def rollout(self, prompt_ids=None, sampled=None, completion_ids=None, rows=None, **settings):
        """TRL's batch of one group: the prompts as ids or as dataset `rows`, and what generate() appends to them, or the
        completions that generation hands over."""
        rows = [{"prompt": "x", "reward": 0.0} for _ in prompt_ids] if rows is None else rows
        logged(self.trainer).clear()
        with contextlib.ExitStack() as stack:
            stack.enter_context(replaced(self.trainer, **{"num_generations": len(rows), **settings}))
            if prompt_ids is not None:
                self._give_prompts(stack, prompt_ids)
            if completion_ids is not None and self.hands_over:
                found = self._handed_over(prompt_ids, completion_ids)
                stack.enter_context(replaced(self.trainer, _generate_single_turn=lambda *_, **__: found))
            else:
                sampled = self._finished(completion_ids) if sampled is None else sampled
                table = Table(sampled=sampled, pad_token_id=self.pad)
                stack.enter_context(replaced(self.trainer.model, generate=table.generate))
            return self._rollout(rows)

    def _give_prompts(self, stack, prompt_ids):
        if hasattr(self.trainer, "_tokenize_prompts"):
            answer = (prompt_ids, None, {})
            stack.enter_context(replaced(self.trainer, _tokenize_prompts=lambda prompts: answer))
        else:
            given = Given(self.trainer.processing_class, prompt_ids)
            stack.enter_context(replaced(self.trainer, processing_class=given))

    def _handed_over(self, prompt_ids, completion_ids):
        """As _generate_single_turn returns it: what was the probe's prompts and completions there is these."""
        if not isinstance(self._generated, tuple):
            return completion_ids
        kinds = [([[0, 1]], prompt_ids), ([[2, self.eos]], completion_ids)]
        return tuple(
            next((new for old, new in kinds if part == old), part) for part in self._generated
        )

    def _finished(self, completion_ids):
        """Completions as columns of generate(), which fills up a row only behind its stop."""
        width = max(map(len, completion_ids))
        if any(not row or (len(row) < width and row[-1] != self.eos) for row in completion_ids):
            raise Reject("TRL %s has no joint between generate() and its mask: a completion ends there by a stop" % VERSION)
        return completion_ids

    def prompted(self, messages):
        """(ids, text) of one prompt, by the code that tokenises every prompt."""
        with rendering(self.tokenizer, None) as rendered:
            if hasattr(self.trainer, "_tokenize_prompts"):
                (ids,) = self.trainer._tokenize_prompts([messages])[0]
            else:
                if messages[-1]["role"] != "user":
                    raise Reject("TRL %s adds the generation prompt after a user's message only" % VERSION)
                batch = self.rollout(rows=[{"prompt": list(messages), "reward": 0.0}], sampled=[[self.eos]])
                (ids,) = real(batch["prompt_ids"], batch["prompt_mask"])
        texts = rendered[0][0]
        return ids, texts if isinstance(texts, str) else texts[0]

    # Scores

    def scores(self, model, ids, attention_mask, keep, **options):
        """(log-probabilities, entropies or None) by the trainer's own function, which is called the same from 0.15 on."""
        return self._pair(getattr(self.trainer, self.scoring)(model, ids, attention_mask, keep, **options))

    def _pair(self, result):
        if isinstance(result, dict):
            return result["logps"], result.get("entropies")
        return result[:2] if isinstance(result, tuple) else (result, None)

    def _as_scored(self, logps, entropies):
        """In the form that this version's function returns."""
        form = self._scored
        if isinstance(form, dict):
            return {**form, "logps": logps, "entropies": entropies}
        return (logps, entropies, *form[2:]) if isinstance(form, tuple) else logps

    @contextlib.contextmanager
    def scored_as(self, *answers):
        """The trainer's scores of tokens are these pairs, one a call; the last of them again for every further call."""
        left = list(answers)

        def answer(*_, **__):
            logps, entropies = left.pop(0) if len(left) > 1 else left[0]
            return self._as_scored(logps, torch.zeros_like(logps) if entropies is None else entropies)

        with spy(self.trainer, self.scoring, instead=answer):
            yield

    def asked(self, batch, **settings):
        """(log-probabilities, entropies) that the loss asks for, on a batch that TRL padded and masked."""
        with torch.no_grad(), replaced(self.trainer, **settings), spy(self.trainer, self.scoring) as calls:
            self.loss(batch)
        return self._pair(calls[0].result)

    def scored_by(self, model, make):
        """(what make() returns, the log-probabilities that TRL asked of this model on the way; None where of none)."""
        with spy(self.trainer, self.scoring) as calls:
            made = make()
        scored = [self._pair(call.result)[0] for call in calls if call.args[0] is model]
        return made, scored[-1] if scored else None

    # Steps

    def loss(self, batch):
        return self.trainer.compute_loss(self.trainer.model, batch)

    def step(self, batches):
        """The losses that the optimiser gets of these micro-batches: Trainer.training_step, backward included."""
        trainer, count = self.trainer, len(batches)
        own = {"gradient_accumulation_steps": count}
        if hasattr(trainer.args, "steps_per_generation"):
            own["steps_per_generation"] = count  # one generation an optimiser step, as by default
        attributes = {"current_gradient_accumulation_steps": count, "_prepare_inputs": lambda batch: batch}
        with replaced(trainer, **attributes), replaced(trainer.args, **own), recorded_backward() as losses:
            for batch in batches:
                trainer.training_step(trainer.model, batch, None)
        return losses


def real(ids, mask):
    """The ids of each row that its mask keeps."""
    return [row[on.bool()].tolist() for row, on in zip(ids, mask)]


def block(batch):
    """TRL's training row: (B, P + C), as its loss concatenates it."""
    return {
        "input_ids": torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1),
        "attention_mask": torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1),
        "completion_mask": batch["completion_mask"],
    }


def ragged(block, completion_ids):
    """The columns of each row's own tokens."""
    return [row[: len(ids)].tolist() for row, ids in zip(block, completion_ids)]

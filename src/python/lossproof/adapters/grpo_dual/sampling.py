"""Op penalties: the processors that the trainer hands to generate, a step after the other as generate calls them."""

import lossproof
from lossproof.adapters.grpo_dual._parts import trainer
from lossproof.testing import replaced

import torch

PENALTIES = ("PresencePenaltyProcessor", "FrequencyPenaltyProcessor")


@lossproof.op
def penalties(input_ids, prompt_width, logits, presence_penalty, frequency_penalty):
    """Those two of the list that build_safe_logits_processors makes: its others bound logits, and hold back the stop. They count
    from the prompt on that they are first called with, so they are called from there on."""
    with replaced(trainer.config, PRESENCE_PENALTY=presence_penalty, FREQUENCY_PENALTY=frequency_penalty):
        every = trainer.build_safe_logits_processors()
    processors = [each for each in every if type(each).__name__ in PENALTIES]
    ids = torch.tensor(input_ids)
    for width in range(prompt_width, ids.size(1) + 1):
        scores = torch.tensor(logits)
        for processor in processors:
            scores = processor(ids[:, :width], scores)
    return {"logits": scores}

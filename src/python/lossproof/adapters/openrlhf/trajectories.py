"""Op trajectory: what SamplesGenerator makes of a rollout of several turns."""

import lossproof
from lossproof.adapters.openrlhf._model import UNLIMITED, tokenizer
from lossproof.adapters.openrlhf._parts import samples
from lossproof.testing import instance


@lossproof.op(after_stop="padding")
def trajectory(prompt_ids, turns, advantage):
    """SamplesGenerator's Experience of what its agent executor hands over: all ids, and where the policy's are."""
    ids, spans, logprobs = list(prompt_ids), [], [0.0] * len(prompt_ids)
    for turn in turns:
        if turn["role"] == "assistant":
            spans.append((len(ids), len(ids) + len(turn["ids"])))
        logprobs += turn["logprobs"] if turn["role"] == "assistant" else [0.0] * len(turn["ids"])
        ids += turn["ids"]
    response = {
        "observation_tokens": ids,
        "action_ranges": spans,
        "rollout_log_probs": logprobs,
        "prompt": "",
        "label": "",
        "reward": advantage,
        "scores": advantage,
        "truncated": turns[-1]["finish_reason"] == "length",
    }
    made = instance(samples, tokenizer=tokenizer)._process_response_into_experience(response, max_len=UNLIMITED)
    mask = [0, *made.action_mask[0].tolist()]
    return {
        "input_ids": made.sequences,
        "loss_mask": [mask],
        "logprobs": [[0.0, *made.rollout_log_probs[0].tolist()]],
    }

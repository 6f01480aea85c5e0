"""Rollouts that were interrupted for new weights, and go on: one row, several policies."""


def partial_rollout(
    prompt_ids,
    partial_ids,
    partial_logprobs,
    partial_versions,
    sampled_ids,
    sampled_logprobs,
    version,
    max_new_tokens,
):
    """The engine is given the prompt and what there is, and asked for what is left of the budget. All that belongs to an
    id is kept from when it was sampled. Every id is trained: the reward is for all of them."""
    answer = {"input_ids": [], "max_new_tokens": [], "completion_ids": [], "logprobs": [], "versions": []}
    rows = zip(prompt_ids, partial_ids, partial_logprobs, partial_versions, sampled_ids, sampled_logprobs)
    for prompt, ids, logprobs, versions, sampled, sampled_with in rows:
        left = max_new_tokens - len(ids)
        answer["input_ids"].append(prompt + ids)
        answer["max_new_tokens"].append(left)
        answer["completion_ids"].append(ids + sampled[:left])
        answer["logprobs"].append(logprobs + sampled_with[:left])
        answer["versions"].append(versions + [version] * len(sampled[:left]))
    answer["loss_mask"] = [[1] * len(ids) for ids in answer["completion_ids"]]
    return answer


OPS = {"partial_rollout": partial_rollout}
SEMANTICS = {"resumed_prefix_trained": True}

"""Op contract: what the buffer hands over, and the losses that the policy trains on it."""

import lossproof
from lossproof.adapters.priorzero._learn import TRAIN_ITER, Scores, alone, learn, sampled, switched
from lossproof.adapters.priorzero._model import codec, learner, tokens

# What the buffer hands over, and with what a learner may add.
ORDERS = [
    ["current_batch", "target_batch", "segments"],
    ["current_batch", "target_batch", "train_iter", "segments"],
]
NUDGE = 1e-3
LOGGED = {"sft": "llm_sft_loss", "rft": "llm_rft_loss"}


@lossproof.op(orders=ORDERS, losses=list(LOGGED))
def contract(order, segments, enabled):
    """The ids are only counted: they become plain characters. The last one of a completion is the stop that the trainer puts there
    itself, and a prompt has one more in front, as any template has."""
    # None is 0, which reinforcement leaves out by right; no two are alike, and none the mean of others, which it would not train.
    rewards = [segment["reward"] + NUDGE * 2**at for at, segment in enumerate(segments)]
    prompts = [plain([0, *segment["prompt_ids"]]) for segment in segments]
    completions = [plain(segment["completion_ids"][:-1]) for segment in segments]
    steps = [alone(at, prompt, reward) for at, (prompt, reward) in enumerate(zip(prompts, rewards))]
    # The world model has a batch also where there is nothing for the language model.
    batch = steps or [alone(0, "", 0.0)]
    model = Scores(len(codec))
    made = learner(model, codec, **switched(enabled))
    current, target, found = sampled(made, batch)
    elements = {"current_batch": current, "target_batch": target, "segments": found if steps else [], "train_iter": TRAIN_ITER}
    try:
        log = learn(made, [elements[name] for name in order], completions, len(batch))
    except Exception as raised:
        if order in ORDERS:
            raise
        raise lossproof.Reject("it raises on this order: %s" % raised)
    answer = {"executed": dict.fromkeys(LOGGED, 0), "trained_tokens": dict.fromkeys(LOGGED, 0)}
    for _, supervised, trained in model.heard():
        name = "sft" if supervised else "rft"
        answer["executed"][name] += 1
        answer["trained_tokens"][name] += int(trained.sum())
    return {**answer, "losses": {name: log[key] for name, key in LOGGED.items()}}


def plain(ids):
    """Text of as many ordinary tokens."""
    special = {tokens["pad_token_id"], *tokens["eos_token_ids"]}
    ordinary = [id for id in range(len(codec)) if id not in special]
    return codec.decode([ordinary[id] for id in ids])

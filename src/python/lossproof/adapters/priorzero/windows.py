"""Op unroll: the window of the buffer's batch that the policy hands to the world model."""

import lossproof
from lossproof.adapters.priorzero._learn import TRAIN_ITER, Scores, learn, sampled, segment, switched
from lossproof.adapters.priorzero._model import codec, learner


@lossproof.op
def unroll(observations, actions, rewards, starts, unroll_steps):
    """Rewards as they are; what the trainer makes categories of is scaled and spread by LightZero."""
    if unroll_steps == 1:
        raise lossproof.Reject("PriorZero takes a last axis of one action for one that is to go")
    segments = [
        segment(seen, done, earned, [None] * len(done)) for seen, done, earned in zip(observations, actions, rewards)
    ]
    made = learner(Scores(len(codec)), codec, **switched([]))
    current, target, found = sampled(made, segments, list(starts), unroll_steps)
    learn(made, [current, target, TRAIN_ITER, found], [], len(segments))
    batch = made._learn_model.batches[0]
    return {
        "observations": batch["observations"][:, :, 0].long(),
        "actions": batch["actions"],
        "rewards": batch["rewards"],
        "mask": batch["mask_padding"].long(),
    }

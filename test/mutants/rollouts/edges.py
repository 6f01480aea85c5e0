"""Wrong rollouts of what rarely is sampled: an answer that is its stop token, a turn whose reward is 0, numbers that half
precision lacks."""

from struct import pack, unpack

from lossproof.examples import left_padded
from lossproof.examples.lists import beside, pad_left, pad_right
from lossproof.examples.rollouts.trajectory import cut_tools, row, rows_of
from lossproof.examples.text.chat import chat_ids

from ..in_place import written
from ..registry import MUTANTS, right_op


@MUTANTS.add(
    "rollout-loses-empty-answers",
    "An answer that ends at once is scored as no tokens",
    left_padded,
    "rollout",
    row="EOS-03",
)
def rollout_empty(conversations, sampled_ids):
    """`text = decode(ids); if not text: mask = 0`: the one token that would have taught the policy not to end there is not
    trained. Fix: mask by ids."""
    right = left_padded.rollout(conversations, sampled_ids)
    stopped = [ids[0] in left_padded.EOS_IDS for ids in sampled_ids]
    masks = [[0] * len(mask) if gone else mask for mask, gone in zip(right["completion_mask"], stopped)]
    return dict(right, completion_mask=masks)


@MUTANTS.add(
    "turn-rewards-skip-zeros",
    "Rewards of 0 are taken for turns without one",
    left_padded,
    "trajectory",
    row="MT-06",
)
def rewards_without_zeros(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None, turn_rewards=None):
    """`[r for r in rewards if r]` leaves out injected turns, whose reward is 0, and with them every answer that was worth
    nothing: the rewards behind it move up by a turn. Fix: pair by the role."""
    given = iter([reward for reward in turn_rewards or [] if reward])
    moved = [next(given, 0.0) if turn["role"] == "assistant" else 0.0 for turn in turns]
    whole = row(prompt_ids, cut_tools(turns, max_tool_tokens), eos_token_ids)
    return rows_of([whole], advantage, turn_rewards and moved)


def in_half_precision(op, title, story):
    """The base's op, its log-probabilities rounded to float16 where it answers any."""
    right = right_op(left_padded, op)

    def rounded(**args):
        answer = right(**args)
        if "logprobs" not in answer:
            return answer
        return dict(answer, logprobs=[[unpack("e", pack("e", p))[0] for p in row] for row in answer["logprobs"]])

    rounded.__doc__ = story
    MUTANTS.add("%s-logprobs-in-half-precision" % op, title, left_padded, op, row="NUM-03")(rounded)


in_half_precision(
    "extract",
    "Log-probabilities come from the sampler in float16",
    "The buffer of a rollout is made in the model's dtype: every ratio is off by up to a thousandth before the first step. Fix: float32.",
)
in_half_precision(
    "trajectory",
    "A row's log-probabilities are kept in float16",
    "torch.tensor(logprobs, dtype=model.dtype): the first step of an agent already has ratios. Fix: float32.",
)


def scored(prompt_ids, sampled_ids):
    """The batch that is right behind these prompts."""
    prompts, prompt_real = pad_left(prompt_ids, left_padded.PAD_ID)
    completions, completion_real = pad_right(sampled_ids, left_padded.PAD_ID)
    return {
        "prompt_ids": prompt_ids,
        "input_ids": beside(prompts, completions),
        "attention_mask": beside(prompt_real, completion_real),
        "completion_mask": [left_padded.completion_mask(*row, left_padded.EOS_IDS) for row in zip(completions, completion_real)],
    }


@MUTANTS.add("rollout-prompt-of-512", "What is generated from are the last 512 tokens of the prompt", left_padded, "rollout", row="TRN-03")
def rollout_prompt_cut(conversations, sampled_ids):
    """max_prompt_length has a default, and cuts on the left: rules and tools are gone, and batch and sampler agree on it. Fix: leave
    the prompt out."""
    prompts = [chat_ids(messages, True)[-512:] for messages in conversations]
    return scored(prompts, sampled_ids)


@MUTANTS.add("rollout-answer-of-1024", "Sampled answers are scored up to their token 1,024", left_padded, "rollout", row="TRN-04")
def rollout_answer_cut(conversations, sampled_ids):
    """The buffer has the size of last month's limit. A long answer is trained without its end, and with the reward of it. Fix: the
    size of what was sampled."""
    prompts = [chat_ids(messages, True) for messages in conversations]
    return scored(prompts, [row[:1024] for row in sampled_ids])


def rolled(args):
    for row in args["sequences"]:
        row[:] = row[1:] + row[:1]


written(
    "extract",
    "extract-moves-the-sequences-in-place",
    "The sequences that completions are cut from are moved in place",
    "torch.roll into the same storage: what is scored next are other rows. Fix: a copy.",
    rolled,
    row="PAD-08",
)

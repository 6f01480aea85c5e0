"""Answers NaN, Infinity and -0.0, and says whether the request's 1.0 arrived as a float."""
import plain


def answer(request):
    rewards = request["args"]["rewards"]
    kinds = {type(reward).__name__ for reward in rewards}
    if kinds != {"float"}:
        plain.say(request, reject=f"rewards came as {sorted(kinds)}")
    else:
        plain.say(request, ok={"advantages": [float("nan"), float("-inf"), -0.0][: len(rewards)]})


plain.serve(answer)

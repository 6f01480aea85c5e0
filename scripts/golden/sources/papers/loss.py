"""Clipped objectives: PPO, GRPO, DAPO, Dr. GRPO, GSPO, CISPO, and the dual clip. The loss is minus the objective."""

from sources.entries import entry
from sources.exact import AGREE, STEP, d, matrix, mean, shown

PPO = "Schulman et al. 2017, Proximal Policy Optimization Algorithms (arXiv 1707.06347), equation 7"
GRPO = "Shao et al. 2024, DeepSeekMath (arXiv 2402.03300), equations 3 and 4"
COEFFICIENT = "Shao et al. 2024, DeepSeekMath (arXiv 2402.03300), appendix A.1.6, gradient coefficient of GRPO"
DAPO = "Yu et al. 2025, DAPO (arXiv 2503.14476), equation 8"
DR_GRPO = "Liu et al. 2025, Understanding R1-Zero-Like Training (arXiv 2503.20783)"
GSPO = "Zheng et al. 2025, Group Sequence Policy Optimization (arXiv 2507.18071), equations 5 and 7"
CISPO = "MiniMax 2025, MiniMax-M1 (arXiv 2506.13585), equations 4 and 5"
DUAL = "Ye et al. 2020, Mastering Complex Control in MOBA Games with Deep Reinforcement Learning (arXiv 1912.09729), equation 5"
HOW = "50 digits, from the formula; each weight is dL/dlogprob by the chain rule, confirmed by a difference quotient"

K3 = {"estimator": "k3", "clamp": None, "clampWhere": None, "ratioCorrection": False}


def clip(ratio, low, high):
    return min(max(ratio, 1 - low), 1 + high)


def row_terms(row, logprobs, case):
    """Of one output, the terms under its sum over t, and the slope of each term by its own log-probability."""
    settings = case["settings"]
    low, high, beta = d(settings["clipLow"]), d(settings["clipHigh"]), d(settings["klCoef"])
    advantage = d(case["advantages"][row])
    old, ref = matrix([case["old_logprobs"][row]])[0], matrix([case["ref_logprobs"][row]])[0]
    steps = [t for t, on in enumerate(case["mask"][row]) if on]
    log_ratios = {t: logprobs[t] - old[t] for t in steps}
    sequence = settings.get("ratioLevel") == "sequence"
    if sequence:
        shared = mean(list(log_ratios.values()))
        log_ratios = {t: shared for t in steps}
    terms = {}
    for t in steps:
        ratio = log_ratios[t].exp()
        if settings.get("objective") == "cispo":
            held = clip(matrix([case["logprobs"][row]])[0][t].exp() / old[t].exp(), low, high)
            terms[t] = (held * advantage * logprobs[t], held * advantage)
            continue
        bounded = clip(ratio, low, high) * advantage
        value = min(ratio * advantage, bounded)
        slope = ratio * advantage if ratio * advantage <= bounded else d(0)
        if "dualClip" in settings and advantage < 0 and value < d(settings["dualClip"]) * advantage:
            value, slope = d(settings["dualClip"]) * advantage, d(0)
        if beta != 0:
            log_ref = ref[t] - logprobs[t]
            value -= beta * (log_ref.exp() - log_ref - 1)
            slope += beta * (log_ref.exp() - 1)
        terms[t] = (value, slope)
    return terms, sequence


def outer(case):
    """What divides each output's sum over its tokens."""
    settings, lengths = case["settings"], [sum(row) for row in case["mask"]]
    if settings["aggregation"] == "token-mean":
        return [d(sum(lengths))] * len(lengths)
    if settings["aggregation"] == "seq-mean-token-mean":
        return [d(len(lengths) * length) for length in lengths]
    if settings["aggregation"] == "token-sum-norm":
        return [d(len(lengths)) * d(settings["norm"])] * len(lengths)
    return [d(len(lengths))] * len(lengths)


def loss_of(case, logprobs):
    divisors = outer(case)
    rows = [row_terms(row, logprobs[row], case)[0] for row in range(len(logprobs))]
    return -sum(sum(value for value, _ in terms.values()) / divisors[row] for row, terms in enumerate(rows))


def weights_of(case, logprobs):
    divisors, result = outer(case), []
    for row, values in enumerate(logprobs):
        terms, sequence = row_terms(row, values, case)
        weights = [d(0)] * len(values)
        for t, (_, slope) in terms.items():
            # One ratio a sequence: each of its tokens moves it by a share of 1 / |y|, and with it every term.
            share = slope if not sequence else mean([slope for _, slope in terms.values()])
            weights[t] = -share / divisors[row]
        result.append(weights)
    for row, values in enumerate(logprobs):
        for t, value in enumerate(values):
            moved = [list(each) for each in logprobs]
            moved[row][t] = value + STEP
            above = loss_of(case, moved)
            moved[row][t] = value - STEP
            quotient = (above - loss_of(case, moved)) / (2 * STEP)
            assert abs(quotient - result[row][t]) < AGREE, (row, t, quotient, result[row][t])
    return result


def example(id, source, logprobs, old, advantages, mask, settings, ref=None, how=HOW):
    case = {
        "logprobs": logprobs,
        "old_logprobs": old,
        "ref_logprobs": ref if ref is not None else logprobs,
        "advantages": advantages,
        "mask": mask,
        "settings": settings,
    }
    numbers = matrix(logprobs)
    answer = {"loss": loss_of(case, numbers), "weights": weights_of(case, numbers), "tokens": sum(map(sum, mask))}
    return entry(id, source, how, "policy-loss", case, shown(answer))


def settings(aggregation, low, high, **more):
    return {"aggregation": aggregation, "norm": "1", "clipLow": low, "clipHigh": high, "klCoef": "0", "kl": None, **more}


# Two outputs of three tokens and of one; the columns behind the shorter one are nobody's.
LOGPROBS = [["-0.5", "-1.2", "-2.1"], ["-0.9", "0", "0"]]
OLD = [["-0.75", "-1.1", "-2"], ["-1.3", "0", "0"]]
REF = [["-0.6", "-1.4", "-1.9"], ["-0.8", "0", "0"]]
MASK = [[1, 1, 1], [1, 0, 0]]


def figure_one():
    """The four sides of the figure: the objective is flat where the ratio has gone far enough, and only there."""
    cases = [
        ("gain-within", "0.1", "1"),
        ("gain-beyond", "0.4", "1"),
        ("gain-below", "-0.5", "1"),
        ("loss-within", "-0.1", "-1"),
        ("loss-beyond", "-0.5", "-1"),
        ("loss-above", "0.4", "-1"),
    ]
    for name, log_ratio, advantage in cases:
        logprob = str(d("-1") + d(log_ratio))
        yield example(
            f"ppo-figure-1-{name}",
            f"{PPO} and figure 1, epsilon 0.2",
            [[logprob]],
            [["-1"]],
            [advantage],
            [[1]],
            settings("token-mean", "0.2", "0.2"),
        )


def entries():
    grpo = settings("seq-mean-token-mean", "0.2", "0.2", klCoef="0.04", kl=K3)
    given = (LOGPROBS, OLD, ["1", "-1"], MASK)
    return [
        *figure_one(),
        example("ppo-batch", f"{PPO}, epsilon 0.2, mean over timesteps", *given, settings("token-mean", "0.2", "0.2")),
        example("grpo", f"{GRPO}, with the paper's coefficient of 0.04 (section 4.2)", *given, grpo, REF),
        example(
            "grpo-gradient-coefficient",
            f"{COEFFICIENT}: A + beta (pi_ref / pi - 1) where pi equals pi_old",
            LOGPROBS,
            LOGPROBS,
            ["1", "-1"],
            MASK,
            grpo,
            REF,
        ),
        example(
            "grpo-first-step",
            f"{GRPO}: where all three policies are one, the loss is minus the mean advantage, and no gradient is 0",
            LOGPROBS,
            LOGPROBS,
            ["1", "-1"],
            MASK,
            grpo,
            LOGPROBS,
        ),
        example("dapo", f"{DAPO}, clipped to [1 - 0.2, 1 + 0.28]", *given, settings("token-mean", "0.2", "0.28")),
        example(
            "dapo-clip-higher",
            f"{DAPO}, clip-higher: a ratio of 1.25 is within 1 + 0.28 and beyond 1 + 0.2",
            [[str(d("1.25").ln() - 1)]],
            [["-1"]],
            ["1"],
            [[1]],
            settings("token-mean", "0.2", "0.28"),
        ),
        example(
            "dr-grpo-objective",
            f"{DR_GRPO}, figure 1: no division by the length of an output",
            LOGPROBS,
            OLD,
            ["0.5", "-0.5"],
            MASK,
            settings("seq-mean-token-sum", "0.2", "0.2"),
        ),
        example(
            "dr-grpo-constant",
            f"{DR_GRPO}, the listing of its implementation: the sum of an output divided by a constant, here 4",
            LOGPROBS,
            OLD,
            ["0.5", "-0.5"],
            MASK,
            {**settings("token-sum-norm", "0.2", "0.2"), "norm": "4", "normPer": "row"},
        ),
        example(
            "gspo-within",
            f"{GSPO}, with the paper's clipping ranges 3e-4 and 4e-4 (section 5.1)",
            [["-0.5001", "-1.2", "-2.0995"], ["-0.9", "0", "0"]],
            [["-0.5", "-1.2", "-2.1"], ["-0.9002", "0", "0"]],
            ["1", "-1"],
            MASK,
            settings("seq-mean-token-mean", "0.0003", "0.0004", ratioLevel="sequence"),
        ),
        example(
            "gspo-clipped",
            f"{GSPO}: one output clipped whole, though one of its tokens has a ratio below 1",
            [["-0.49", "-1.21", "-2.09"], ["-0.9", "0", "0"]],
            [["-0.5", "-1.2", "-2.1"], ["-0.8", "0", "0"]],
            ["1", "-1"],
            MASK,
            settings("seq-mean-token-mean", "0.0003", "0.0004", ratioLevel="sequence"),
        ),
        example(
            "cispo",
            f"{CISPO}; the upper bound is 1 + 0.28 here, and there is no lower one",
            *given,
            settings("token-mean", "1", "0.28", objective="cispo"),
        ),
        example(
            "dual-clip",
            f"{DUAL}, with the paper's c of 3: a ratio of 4 at a negative advantage counts 3",
            [[str(d(4).ln() - 3)], ["-1.05"]],
            [["-3"], ["-1"]],
            ["-1", "-0.5"],
            [[1], [1]],
            settings("token-mean", "0.2", "0.2", dualClip="3"),
        ),
    ]

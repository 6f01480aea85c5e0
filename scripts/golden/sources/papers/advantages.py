"""From rewards to advantages: GRPO, Dr. GRPO, RLOO, GAE, whitening, and what rewards are made of."""

from fractions import Fraction

from sources.entries import entry
from sources.exact import d, matrix, mean, root, shown, variance

GRPO = "Shao et al. 2024, DeepSeekMath (arXiv 2402.03300), section 4.1.2: (r - mean(r)) / std(r) of the group"
DR_GRPO = "Liu et al. 2025, Understanding R1-Zero-Like Training (arXiv 2503.20783), figure 1: r - mean(r) of the group"
RLOO = "Ahmadian et al. 2024, Back to Basics (arXiv 2402.14740), the RLOO estimator: r less the mean of the other samples' rewards"
GAE = "Schulman et al. 2015, High-Dimensional Continuous Control Using Generalized Advantage Estimation (arXiv 1506.02438)"
WHITEN = (
    "Ziegler et al. 2019, Fine-Tuning Language Models from Human Preferences (arXiv 1909.08593), the published code's "
    "whiten(values, shift_mean)"
)
DAPO = "Yu et al. 2025, DAPO (arXiv 2503.14476), equation 13"
INSTRUCT = "Ouyang et al. 2022, Training language models to follow instructions with human feedback (arXiv 2203.02155), equation 2"


def group(id, source, rewards, groups, variant):
    numbers = [d(reward) for reward in rewards]
    answer = []
    for reward, own in zip(numbers, groups):
        members = [other for other, name in zip(numbers, groups) if name == own]
        if variant["baseline"] == "leave-one-out":
            centred = reward - (sum(members) - reward) / (len(members) - 1)
        else:
            centred = reward - mean(members)
        divided = variant["scaling"] == "group" and max(members) != min(members)
        answer.append(centred / root(variance(members, variant["ddof"])) if divided else centred)
    input = {"rewards": rewards, "group_ids": groups, "variant": {**variant, "epsilon": "0"}}
    how = "50 digits, no epsilon: the paper has none"
    return entry(id, source, how, "group-advantages", input, shown({"advantages": answer}))


def gae(id, source, rewards, values, gamma, lam):
    """Backwards, A_t = d_t + gamma lam A_t+1, in fractions: no digit is lost. Row 0 only, every step trained."""
    g, l = Fraction(gamma), Fraction(lam)
    r, v = [Fraction(x) for x in rewards], [Fraction(x) for x in values] + [Fraction(0)]
    result, following = [], Fraction(0)
    for t in reversed(range(len(r))):
        following = r[t] + g * v[t + 1] - v[t] + g * l * following
        result.insert(0, following)
    for t in range(len(r)):
        deltas = [r[k] + g * v[k + 1] - v[k] for k in range(t, len(r))]
        assert result[t] == sum((g * l) ** k * delta for k, delta in enumerate(deltas))
    input = {"rewards": [rewards], "values": [values], "mask": [[1] * len(r)], "gamma": gamma, "lam": lam}
    return entry(id, source, "exact fractions, by the recursion and by the sum", "gae", input, shown({"advantages": [result]}))


def whitening(id, values, mask, mean_kept, ddof, epsilon):
    numbers = [x for row, on in zip(matrix(values), mask) for x, m in zip(row, on) if m]
    centre, divisor = mean(numbers), root(variance(numbers, ddof) + d(epsilon))
    shift = centre if mean_kept == "kept" else d(0)
    answer = [
        [(x - centre) / divisor + shift if m else d(0) for x, m in zip(row, on)] for row, on in zip(matrix(values), mask)
    ]
    input = {"values": values, "mask": mask, "variant": {"mean": mean_kept, "ddof": ddof}, "epsilon": epsilon}
    note = "its epsilon of 1e-8 under the root" if epsilon != "0" else "no epsilon"
    kind = "the biased variance, as in that code" if ddof == 0 else "the unbiased variance, as its descendants have it"
    return entry(id, WHITEN, f"50 digits, {kind}, {note}", "whitening", input, shown({"whitened": answer}))


def overlong(id, length):
    """The lengths of the paper's experiments: 16,384 tokens expected, 4,096 more as the buffer."""
    limit, buffer = 20480, 4096
    free = limit - buffer
    value = Fraction(0) if length <= free else Fraction(free - length, buffer) if length <= limit else Fraction(-1)
    return entry(
        id,
        f"{DAPO}, with the lengths of its experiments, 16,384 and 4,096 (section 4.1)",
        "exact fractions",
        "soft-overlong",
        {"length": length, "limit": limit, "buffer": buffer},
        shown({"penalty": value}),
    )


def kl_reward(id, scores, logprobs, ref, mask, beta):
    a, b = matrix(logprobs), matrix(ref)
    totals = [
        d(score) - d(beta) * sum(x - y for x, y, on in zip(a[row], b[row], mask[row]) if on)
        for row, score in enumerate(scores)
    ]
    input = {"scores": scores, "logprobs": logprobs, "ref_logprobs": ref, "mask": mask, "beta": beta}
    how = "50 digits: r(x, y) - beta log(pi(y|x) / pi_sft(y|x)), the log of the ratio summed over the tokens of y"
    return entry(id, f"{INSTRUCT}, without its pretraining term", how, "kl-reward", input, shown({"rewards": totals}))


def entries():
    by_group = {"scaling": "group", "ddof": 0, "baseline": "group-mean"}
    none = {"scaling": "none", "ddof": 0, "baseline": "group-mean"}
    loo = {"scaling": "none", "ddof": 0, "baseline": "leave-one-out"}
    ddof = "; the paper does not say which std"
    mixed = (["1", "0.2", "0", "0.5", "-1", "0.25"], [0, 0, 0, 1, 1, 1])
    three = (["0", "0", "1"], ["0.5", "0.25", "0.75"])
    values = [["0.5", "-1.25", "2"], ["3", "0.1", "9"]]
    return {
        "advantages": [
            group("grpo-half-right", GRPO + ddof, ["1", "0", "0", "1"], [0, 0, 0, 0], by_group),
            group("grpo-half-right-ddof-1", GRPO + ddof, ["1", "0", "0", "1"], [0, 0, 0, 0], {**by_group, "ddof": 1}),
            group("grpo-one-of-eight", GRPO + ddof, ["0", "0", "1", "0", "0", "0", "0", "0"], [0] * 8, {**by_group, "ddof": 1}),
            group("grpo-two-groups", GRPO + ddof, *mixed, by_group),
            group("grpo-all-equal", f"{GRPO}; 0 / 0 is taken as 0, no output being better", ["0.7"] * 3, [0] * 3, by_group),
            group("dr-grpo", DR_GRPO, *mixed, none),
            group("rloo-two", RLOO, ["1", "0.25"], [0, 0], loo),
            group("rloo-four", RLOO, ["1", "0", "0", "0.5"], [0, 0, 0, 0], loo),
            group("rloo-two-groups", RLOO, *mixed, loo),
        ],
        "gae": [
            gae("lambda-0", f"{GAE}, equation 17: the residual alone", *three, "0.99", "0"),
            gae("lambda-1", f"{GAE}, equation 18: the return less the value", *three, "0.99", "1"),
            gae("in-between", f"{GAE}, equation 16", ["0.5", "-1", "0", "2"], ["0.3", "-0.2", "0.8", "1.1"], "0.99", "0.95"),
            gae("no-discount", f"{GAE}, equation 16 with gamma 1", ["0", "0", "0", "1"], ["0.1", "0.2", "0.4", "0.8"], "1", "0.95"),
            gae("one-step", f"{GAE}, equation 16", ["1"], ["0.75"], "0.99", "0.95"),
        ],
        "whitening": [
            whitening("as-published", values, [[1, 1, 1], [1, 1, 0]], "zero", 0, "1e-8"),
            whitening("mean-kept", values, [[1, 1, 1], [1, 1, 0]], "kept", 0, "1e-8"),
            whitening("unbiased", values, [[1, 1, 1], [1, 1, 0]], "zero", 1, "0"),
            whitening("two-values", [["1", "3"]], [[1, 1]], "zero", 0, "0"),
        ],
        "rewards": [
            *[
                overlong(f"overlong-{name}", length)
                for name, length in [
                    ("free", 16384),
                    ("one-over", 16385),
                    ("half", 18432),
                    ("at-the-limit", 20480),
                    ("beyond", 20481),
                ]
            ],
            kl_reward(
                "instructgpt",
                ["1.5", "-0.25"],
                [["-0.5", "-1.2", "-2.1"], ["-0.9", "-0.3", "0"]],
                [["-0.6", "-1.4", "-1.9"], ["-0.8", "-0.55", "0"]],
                [[1, 1, 1], [1, 1, 0]],
                "0.02",
            ),
        ],
    }

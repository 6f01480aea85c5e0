"""Estimators of the KL divergence: Schulman 2020, DeepSeekMath's equation 4, and exact values over small vocabularies."""

from decimal import Decimal

from sources.entries import entry
from sources.exact import checked_slope, d, root, shown

SCHULMAN = "John Schulman 2020, Approximating KL Divergence (blog, joschu.net/blog/kl-approx.html)"
DEEPSEEK = "Shao et al. 2024, DeepSeekMath (arXiv 2402.03300), equation 4, the unbiased estimator of the KL"
BY_HAND = "decimal arithmetic of 50 digits, straight from the formula"


def estimators(logprob, ref):
    log_ratio = ref - logprob
    return {"k1": -log_ratio, "k2": log_ratio**2 / 2, "k3": log_ratio.exp() - 1 - log_ratio}


def one_token(id, logprob, ref, source, how=BY_HAND):
    return entry(
        id,
        source,
        f"{how}: k1 = -d, k2 = d^2 / 2, k3 = exp(d) - 1 - d with d = ref - logprob",
        "kl-estimators",
        shown({"logprob": logprob, "ref": ref}),
        shown(estimators(logprob, ref)),
    )


def gaussian(id, mean, printed):
    """q = N(0, 1), p = N(mean, 1): log r = y is normal with mean -m^2/2 and variance m^2, so every moment is closed."""
    m2 = d(mean) ** 2
    true = m2 / 2
    moments = {
        "k1": (true, m2),
        # y^2 / 2: E = (m^2 + m^4/4) / 2, Var = (2 s^4 + 4 u^2 s^2) / 4 for y of mean u and variance s^2.
        "k2": ((m2 + m2**2 / 4) / 2, (2 * m2**2 + m2**3) / 4),
        # e^y - 1 - y: E[e^y] = 1, Var(e^y) = exp(m^2) - 1, Cov(e^y, y) = m^2.
        "k3": (true, m2.exp() - 1 - m2),
    }
    answer = {
        name: {"bias_over_true": (expected - true) / true, "std_over_true": root(spread) / true}
        for name, (expected, spread) in moments.items()
    }
    for name, columns in printed.items():
        for column, number in columns.items():
            # The blog's numbers come from sampling: half a unit of the last digit, the tie included.
            unit = Decimal(1).scaleb(Decimal(number).as_tuple().exponent)
            assert abs(answer[name][column] - Decimal(number)) <= unit / 2, (id, name, column)
    return entry(
        id,
        f"{SCHULMAN}, the table of bias and standard deviation for q = N(0, 1), p = N({mean}, 1)",
        "moments of the normal distribution in closed form, at 50 digits; each rounds to the number that the blog prints, "
        "which was sampled",
        "kl-estimator-moments",
        {"mean": mean},
        shown(answer),
        printed=printed,
    )


def enumerated(id, policy, reference):
    p, q = [d(x) for x in policy], [d(x) for x in reference]
    assert sum(p) == 1 and sum(q) == 1
    each = [estimators(a.ln(), b.ln()) for a, b in zip(p, q)]
    expected = {name: sum(a * values[name] for a, values in zip(p, each)) for name in ("k1", "k2", "k3")}
    kl = sum(a * (a / b).ln() for a, b in zip(p, q))
    assert abs(expected["k1"] - kl) < Decimal("1e-45") and abs(expected["k3"] - kl) < Decimal("1e-45")
    return entry(
        id,
        f"Kullback and Leibler 1951, On Information and Sufficiency, for the divergence; {SCHULMAN}, for k1 and k3 having it "
        "as their mean, and k2 not",
        "sum over the whole vocabulary at 50 digits",
        "kl-enumerated",
        {"policy": policy, "reference": reference},
        shown({"kl": kl, "entropy": -sum(a * a.ln() for a in p), "mean": expected}),
    )


def slope(id, logprob, ref):
    a, b = d(logprob), d(ref)
    value = checked_slope(lambda x: estimators(x, b)["k3"], a, 1 - (b - a).exp())
    return entry(
        id,
        "Shao et al. 2024, DeepSeekMath (arXiv 2402.03300), appendix A.1.6: the KL adds beta (pi_ref / pi - 1) to the "
        "gradient coefficient, which is minus beta times the slope of the estimator",
        "1 - exp(ref - logprob) at 50 digits, confirmed by a difference quotient",
        "k3-slope",
        {"logprob": logprob, "ref": ref},
        shown({"slope": value}),
    )


def entries():
    half, quarter = d("0.5").ln(), d("0.25").ln()
    return [
        one_token("half-against-quarter", half, quarter, f"{SCHULMAN}, definitions of k1, k2 and k3"),
        one_token("quarter-against-half", quarter, half, DEEPSEEK),
        one_token("equal", d("-1.25"), d("-1.25"), f"{SCHULMAN}, definitions of k1, k2 and k3"),
        # Powers of two, which a program reads exactly: exp(d) - 1 - d loses every digit here where it is taken as written.
        one_token("near", d("-1"), d("-1") + d("0.0000152587890625"), f"{SCHULMAN}, definitions of k1, k2 and k3"),
        one_token("far-below", d("-0.5"), d("-8"), DEEPSEEK),
        one_token("far-above", d("-8"), d("-0.5"), DEEPSEEK),
        gaussian(
            "schulman-table-near",
            "0.1",
            {
                "k1": {"bias_over_true": "0", "std_over_true": "20"},
                "k2": {"bias_over_true": "0.002", "std_over_true": "1.42"},
                "k3": {"bias_over_true": "0", "std_over_true": "1.42"},
            },
        ),
        gaussian(
            "schulman-table-far",
            "1",
            {
                "k1": {"bias_over_true": "0", "std_over_true": "2"},
                "k2": {"bias_over_true": "0.25", "std_over_true": "1.73"},
                "k3": {"bias_over_true": "0", "std_over_true": "1.7"},
            },
        ),
        enumerated("three-words", ["0.5", "0.25", "0.25"], ["0.25", "0.25", "0.5"]),
        enumerated("five-words", ["0.7", "0.1", "0.1", "0.05", "0.05"], ["0.2", "0.2", "0.2", "0.2", "0.2"]),
        slope("slope-below", "-1.5", "-2.25"),
        slope("slope-above", "-2.25", "-1.5"),
    ]

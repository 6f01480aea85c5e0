"""What logits come to: log-softmax, entropy, cross entropy, and the distributions that samplers draw from."""

from sources.entries import entry
from sources.exact import d, log_softmax, matrix, mean, shown

SOFTMAX = "Blanchard, Higham and Higham 2021, Accurately computing the log-sum-exp and softmax functions, section 1"
SHANNON = "Shannon 1948, A Mathematical Theory of Communication, section 6"
LIKELIHOOD = "the mean negative log-likelihood of the labels, as torch documents cross_entropy with ignore_index -100"
HINTON = "Hinton et al. 2015, Distilling the Knowledge in a Neural Network (arXiv 1503.02531), equation 1 (temperature)"
NUCLEUS = "Holtzman et al. 2020, The Curious Case of Neural Text Degeneration (arXiv 1904.09751), section 3.1"
TOP_K = "Fan et al. 2018, Hierarchical Neural Story Generation (arXiv 1805.04833), top-k random sampling"
CTRL = "Keskar et al. 2019, CTRL (arXiv 1909.05858), section 4.1, with its theta of 1.2"
OPENAI = "the OpenAI API reference on frequency and presence penalties: mu - count * frequency - [count > 0] * presence"
HOW = "50 digits, from the definition"
# The negative side of the repetition penalty is not in the paper; transformers and vLLM multiply there.
SIGN = "; logits that are not positive are multiplied, as transformers and vLLM have it"


def softmax(id, source, logits, temperature="1"):
    scaled = [d(z) / d(temperature) for z in logits]
    logps = log_softmax(scaled)
    total = sum(z.exp() for z in scaled).ln()
    answer = {
        "log_sum_exp": total,
        "log_softmax": logps,
        "entropy": -sum(logp.exp() * logp for logp in logps),
    }
    return entry(id, source, HOW, "log-softmax", {"logits": logits, "temperature": temperature}, shown(answer))


def uniform_entropy(id, probabilities):
    p = [d(x) for x in probabilities]
    logits = [x.ln() for x in p]
    answer = -sum(x * x.ln() for x in p)
    how = "-sum p log p at 50 digits; the logits are the logarithms of the probabilities"
    return entry(id, SHANNON, how, "entropy", shown({"logits": logits}), shown({"entropy": answer}))


def sft(id, logits, labels):
    """The label at t is predicted at t - 1; the first is never predicted."""
    cube = [matrix(rows) for rows in logits]
    picked = [
        -log_softmax(cube[b][t - 1])[label]
        for b, row in enumerate(labels)
        for t, label in enumerate(row)
        if t > 0 and label != -100
    ]
    share = d(-1) / len(picked)
    weights = [[share if t > 0 and label != -100 else d(0) for t, label in enumerate(row)] for row in labels]
    answer = {"loss": mean(picked), "weights": weights, "tokens": len(picked)}
    return entry(id, LIKELIHOOD, HOW, "sft-loss", {"logits": logits, "labels": labels}, shown(answer))


def sampling(id, source, logits, temperature="1", top_k=0, top_p="1"):
    scaled = [d(z) / d(temperature) for z in logits]
    if top_k > 0:
        least = sorted(scaled, reverse=True)[top_k - 1]
        scaled = [z if z >= least else None for z in scaled]
    p = [None if logp is None else logp.exp() for logp in log_softmax(scaled)]
    order = sorted((i for i, x in enumerate(p) if x is not None), key=lambda i: -p[i])
    kept, mass = set(), d(0)
    for i in order:
        if mass >= d(top_p):
            break
        kept.add(i)
        mass += p[i]
    answer = log_softmax([z if i in kept else None for i, z in enumerate(scaled)])
    input = {"logits": logits, "temperature": temperature, "top_k": top_k, "top_p": top_p}
    words = ["-Infinity" if x is None else x for x in answer]
    return entry(id, source, f"{HOW}: temperature, then top-k, then top-p", "sampling", input, shown({"logprobs": words}))


def penalty(id, source, logits, prompt, generated, repetition="1", frequency="0", presence="0"):
    theta = d(repetition)
    answer = []
    for i, z in enumerate(d(z) for z in logits):
        if i in prompt or i in generated:
            z = z / theta if z > 0 else z * theta
        count = generated.count(i)
        answer.append(z - d(frequency) * count - d(presence) * (1 if count else 0))
    input = {
        "logits": logits,
        "prompt": prompt,
        "generated": generated,
        "repetition": repetition,
        "frequency": frequency,
        "presence": presence,
    }
    return entry(id, source, HOW, "penalties", input, shown({"logits": answer}))


def entries():
    logits = ["2", "1", "0.5", "-1", "-3"]
    return {
        "scoring": [
            softmax("one-two-three", SOFTMAX, ["1", "2", "3"]),
            softmax("far-apart", SOFTMAX, ["1000", "990", "-1000"]),
            softmax("equal", SOFTMAX, ["0.3", "0.3", "0.3", "0.3"]),
            softmax("temperature", HINTON, logits, "0.7"),
            uniform_entropy("three-words", ["0.5", "0.25", "0.25"]),
            uniform_entropy("shannons-letters", ["0.4", "0.1", "0.2", "0.2", "0.1"]),
            sft(
                "two-rows",
                [[logits, ["0", "0", "1", "0", "0"], logits], [logits, logits, logits]],
                [[-100, 0, 2], [1, -100, 4]],
            ),
            sft("certain", [[["40", "0", "0"], ["0", "0", "0"]]], [[-100, 0]]),
        ],
        "sampling": [
            sampling("nucleus", f"{NUCLEUS}, p 0.9", logits, top_p="0.9"),
            sampling("nucleus-of-one", f"{NUCLEUS}, p 0.3", logits, top_p="0.3"),
            sampling("top-k", f"{TOP_K}, k 2", logits, top_k=2),
            sampling("all-three", f"{HINTON}; {TOP_K}; {NUCLEUS}", logits, "1.5", 4, "0.8"),
            penalty("repetition", CTRL + SIGN, logits, [0, 3], [1, 1], repetition="1.2"),
            penalty("frequency-and-presence", OPENAI, logits, [0, 3], [1, 1, 4], frequency="0.5", presence="0.25"),
            penalty("all-penalties", f"{CTRL}{SIGN}; {OPENAI}", logits, [0, 3], [1, 1, 4], "1.2", "0.5", "0.25"),
        ],
    }

"""The exact KL of each token over the vocabulary, of two (8, 128) float32 arrays, in Hypothesis with numpy: a test that
calls the function, and holds it to the definition in float64. `python full_kl.py` alone serves the function."""

import sys

import numpy as np

TOKENS, VOCABULARY = 8, 128


def full_kl(logits, ref_logits, temperature):
    """sum p (log p - log q), the logits at t being what token t + 1 was drawn from; nothing was drawn before token 0."""
    logp, logq = log_softmax(logits / temperature), log_softmax(ref_logits / temperature)
    kl = (np.exp(logp) * (logp - logq)).sum(-1)
    return {"kl": np.concatenate([np.zeros_like(kl[:, :1]), kl[:, :-1]], axis=1)}


def log_softmax(logits):
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


if __name__ == "__main__" and len(sys.argv) == 1:
    import lossproof

    lossproof.serve(
        name="full-kl",
        ops={"full_kl": full_kl},
        dtype="float32",
        tensors="base64",
        arrays="numpy",
        tokens={"vocab_size": VOCABULARY, "pad_token_id": 0, "eos_token_ids": [0]},
    )
elif __name__ == "__main__":
    from measured import measure, measured
    from hypothesis import given, strategies as st
    from hypothesis.extra.numpy import arrays

    # As everyone writes it: of each array some 32 entries are drawn and all others are one that is drawn, too. Where
    # each was to be drawn, Hypothesis would give up: such an example is too large for it.
    logits = arrays(np.float32, (1, TOKENS, VOCABULARY), elements=st.floats(-6, 6, width=32))
    count = 0

    @measured
    @given(logits, logits)
    def kl_equals_the_definition(policy, reference):
        global count
        count += 1
        observed = full_kl(policy, reference, 1.0)["kl"]
        logp, logq = (log_softmax(array.astype(np.float64)) for array in (policy, reference))
        expected = (np.exp(logp) * (logp - logq)).sum(-1)
        np.testing.assert_allclose(observed[:, 1:], expected[:, :-1], rtol=1e-4, atol=1e-5)

    measure(kl_equals_the_definition, lambda: count)

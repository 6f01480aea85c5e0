"""Logits that give tokens the log-probabilities of a request."""

import torch

# What a logit is where its token cannot be: exp of it is 0, and sums of it stay finite.
NEVER = -1e4
# Any two tokens: which they are does not matter where the log-probability of the first is given.
TOKEN, OTHER = 0, 1


def said(rows, width, size, token=TOKEN):
    """(B, width, size): logits by which `token` follows at place t of row b with log-probability rows[b][t]: its own is that,
    another token's the logarithm of what is left. Rows that are tensors get their gradient."""
    logits = torch.full((len(rows), width, size), NEVER)
    for b, row in enumerate(rows):
        given = torch.as_tensor(row, dtype=torch.float64)
        logits[b, : len(row), token] = given.float()
        logits[b, : len(row), OTHER] = torch.log(-torch.expm1(given)).clamp(min=NEVER).float()
    return logits

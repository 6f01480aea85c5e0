"""What models say of tokens: log-probabilities, entropies, KL, values."""

"""Log-probabilities of recorded completions, computed again with a model folder: `lossproof gap --model DIR`."""

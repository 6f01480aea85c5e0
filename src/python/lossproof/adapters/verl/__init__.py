"""verl, https://github.com/verl-project/verl: an adapter, a file per stage. The library itself is `verl` alone, wherever it is imported."""

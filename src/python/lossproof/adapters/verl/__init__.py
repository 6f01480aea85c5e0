"""verl, https://github.com/verl-project/verl: an adapter, a file a stage. The library itself is `verl` alone, wherever it is imported."""

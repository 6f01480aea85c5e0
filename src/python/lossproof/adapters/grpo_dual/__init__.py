"""grpo-dual, https://github.com/BoBaCai/grpo-dual: an adapter of a clone, a file per stage. Its trainer is one file and one loop:
functions are called, and the loop is run up to the call that is asked about."""

"""PriorZero in LightZero, https://github.com/opendilab/LightZero (branch dev-multitask-balance-clean-rft): an adapter of a clone,
a file per stage."""

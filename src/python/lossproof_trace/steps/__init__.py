"""What optimisers do with the gradients: each step by tensor, what was done to them before it, and the same on every process. Only
`_arm` imports it; imports `forward`, `models` and `recording`."""

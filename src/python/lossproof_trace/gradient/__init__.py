"""The mathematics: targets, weights and temperatures read off a gradient, by pure functions of tensors. For `models` (a head's
scale and cap) and `forward` to import; imports nothing of the tracer outside itself, and torch."""

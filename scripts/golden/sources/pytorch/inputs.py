"""Inputs of the torch cases: drawn from Python's random(), whose sequence is fixed, and rounded to 1/1024, so that every
program reads the same numbers; and the way back from tensors."""

import math
import random

import torch

GRAIN = 1024


class Draw:
    def __init__(self, seed):
        self.random = random.Random(seed).random

    def number(self, low, high):
        return round((low + (high - low) * self.random()) * GRAIN) / GRAIN

    def integer(self, low, high):
        """From low to high, high included."""
        return low + int(self.random() * (high - low + 1))

    def row(self, count, low, high):
        return [self.number(low, high) for _ in range(count)]

    def matrix(self, rows, columns, low, high):
        return [self.row(columns, low, high) for _ in range(rows)]


def tensor(value):
    return torch.tensor(plain(value), dtype=torch.float64)


def plain(value):
    """Back from the strings that stand for numbers that JSON has no word for."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    return float(value) if isinstance(value, str) else value


def wire(value):
    if isinstance(value, torch.Tensor):
        value = value.detach().tolist()
    if isinstance(value, dict):
        return {key: wire(item) for key, item in value.items()}
    if isinstance(value, list):
        return [wire(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value

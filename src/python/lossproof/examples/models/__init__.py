"""Checkpoints read, scored with and trained for one step."""

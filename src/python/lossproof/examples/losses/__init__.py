"""Objectives on pairs; that of each trainer stands in its own file."""

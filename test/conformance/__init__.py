"""Correct trainers that no property may blame, beside those of `lossproof.examples`: what may differ between right ones,
differs here. `python -m conformance.NAME`, with src/python and test in PYTHONPATH."""

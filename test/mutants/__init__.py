"""Deliberately wrong trainers, one wrong function each, by which mutation testing proves the properties.

`python -m mutants ID`, with src/python and test in PYTHONPATH; `--list` prints them as JSON. Each stands in the folder of
the family of its op, and each docstring names the mistake."""

"""Small honest trainers in plain Python, correct and deliberately wrong, each `python -m lossproof.examples.NAME`.

They are documentation: three legal conventions, written out without a framework."""

"""Small honest trainers in plain Python, correct and deliberately wrong, each `python -m lossproof.examples.NAME`.

They are documentation: two legal conventions, written out without a framework. Ops stand in the folder of their family."""

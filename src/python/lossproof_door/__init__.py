"""The way into lossproof from Python: `pip install lossproof` gives the command `lossproof`, and `python -m lossproof`.

The harness itself is TypeScript. The wheel carries it in `engine/`, as npm has it, and this package starts it with the Node
that pip has installed beside it. `_node` finds that Node, `main` is the command; pytest's plugin and
checks from a notebook ask the same engine. What trainers import is `lossproof`.
"""

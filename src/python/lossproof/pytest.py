"""For tests: an adapter that lives in the test file, and a training script whose ledger is asserted on.

    import lossproof

    @lossproof.op
    def mask(sequences, attention_mask, prompt_width): ...

    test_my_trainer = lossproof.pytest.properties(name="mine", only="mask")
"""

from lossproof_door._declared import Properties

__all__ = ["properties", "trace"]


def properties(name=None, only=None, level=None, known=None, cases=None, **serve):
    """A test for each property of the functions of this file that are decorated with `@lossproof.op`.

    only, level, known, cases: as on the command line. The others are those of `lossproof.serve`; name is that of the variable
    where none is given. The file is imported once more, in a process of its own, which answers the harness."""
    return Properties(name, only, level, known, cases, serve)


def trace(*args, **kwargs):
    from lossproof_door import _other
    from lossproof_door._traced import trace as run

    _other.warn()
    return run(*args, **kwargs)

"""An adapter that lives in a test file: what `lossproof.pytest.properties` was given, for the plugin that tests it and for the
process that serves it."""


class Properties:
    """What a test file declares of its trainer."""

    def __init__(self, name, only, level, known, cases, serve):
        self.name = name
        self.only = only
        self.level = level
        self.known = known
        self.cases = cases
        self.serve = serve


def names(only):
    """`only` as a list: ids, stages and globs; None: not said."""
    if only is None:
        return None
    return [only] if isinstance(only, str) else list(only)

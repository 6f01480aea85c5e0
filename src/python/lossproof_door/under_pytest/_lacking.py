"""Another lossproof in the way of pytest: one sentence, where a test file would end with an AttributeError of a module that it knows well."""

import re
import sys

import pytest

from .._other import other

# How Python says that a module is not what a test was written for.
_LACKING = re.compile(r"module '?lossproof[\w.]*'? has no attribute|\blossproof has no '|from 'lossproof|No module named 'lossproof")


class Other:
    """In the first process of a run alone: reports of xdist's workers come here. `asked`: a trainer is tested."""

    def __init__(self, asked):
        self.asked = asked
        self._told = False

    def pytest_collectreport(self, report):
        if report.failed and _LACKING.search(report.longreprtext):
            sentence = other()
            if sentence is not None:
                self._told = True
                report.longrepr = "lossproof: %s" % sentence  # in the place of the traceback, which pytest prints all the same
                raise pytest.UsageError(report.longrepr)

    def pytest_terminal_summary(self, terminalreporter):
        if self._told:
            return
        # Who tests nothing of ours is left in peace.
        sentence = other() if self.asked or "lossproof" in sys.modules else None
        if sentence is not None:
            terminalreporter.write_line("lossproof: %s" % sentence, yellow=True)

"""In the place of the plugin where pytest is older than its hooks: whoever asks for us reads one sentence, and nobody else notices."""

import pytest

from .._declared import Properties
from ._options import add_options

_SENTENCE = "lossproof: its plugin needs pytest 7 or later, and this is pytest %s; `python -m pip install --upgrade pytest` brings one" % pytest.__version__


def pytest_addoption(parser):
    add_options(parser)


def pytest_configure(config):
    if config.getoption("lossproof") is not None or config.getini("lossproof"):
        raise pytest.UsageError(_SENTENCE)


def pytest_pycollect_makeitem(collector, name, obj):
    if type(obj) is Properties:
        raise collector.CollectError(_SENTENCE)


@pytest.fixture
def lossproof_hold():
    pytest.fail(_SENTENCE, pytrace=False)

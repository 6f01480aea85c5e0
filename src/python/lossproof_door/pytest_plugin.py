"""The entry point `pytest11`, which every pytest of this environment loads: it has no hook of its own, because those of the plugin have
arguments that pytest has had from 7 on, and an older one would end each run with what it thinks of them."""

import pytest

_OLDEST = 7
_IS_OLDER = int(pytest.__version__.split(".")[0]) < _OLDEST

pytest_plugins = ["lossproof_door.under_pytest.%s" % ("_too_old" if _IS_OLDER else "_plugin")]

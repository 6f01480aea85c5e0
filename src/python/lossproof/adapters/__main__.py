"""`python -m lossproof.adapters --list`: the ready-made adapters as one line of JSON."""

import json
import sys

from .. import _channel
from . import READY

if sys.argv[1:] == ["--list"]:
    # Importing the package has already taken standard output for the protocol.
    _channel.write(json.dumps(READY) + "\n")
else:
    sys.stderr.write("lossproof: say `python -m lossproof.adapters --list`, or run one of its modules\n")
    raise SystemExit(2)

"""The rows that axolotl itself makes of configuration files, as JSON: python axolotl_rows.py FILE..., in the folder of the run."""

from _axolotl_stubs import STUBS
from _told import tell
from lossproof.adapters.common._library import quietly
from lossproof.testing import stub

with stub(STUBS), quietly():
    from lossproof_view import _axolotl


def rows(file):
    made = _axolotl.make(file, None, None)["rows"]
    return [{"input_ids": row["ids"], "labels": row["labels"]} for row in made]


tell(rows)

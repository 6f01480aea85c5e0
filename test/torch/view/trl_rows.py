"""The rows that SFTTrainer itself makes of configuration files, as JSON: python trl_rows.py FILE..., in the folder of the run."""

import tempfile

from _told import tell
from lossproof.adapters.common._library import quietly

with quietly():
    from lossproof_view import _trl


def rows(file):
    made = _trl.make(file, None, tempfile.mkdtemp())["rows"]
    return [{"input_ids": row["ids"], "labels": row["labels"]} for row in made]


tell(rows)

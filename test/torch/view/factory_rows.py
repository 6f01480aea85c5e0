"""The rows that LLaMA-Factory itself makes of configuration files, as JSON: python factory_rows.py FILE..., in the folder of the run."""

import os
import tempfile

os.environ["DISABLE_VERSION_CHECK"] = "1"
os.environ["LLAMAFACTORY_VERBOSITY"] = "ERROR"

from _told import tell  # noqa: E402
from lossproof.adapters.common._library import quietly  # noqa: E402
from lossproof.testing import stub  # noqa: E402

with stub(["peft", "torchaudio", "omegaconf", "matplotlib", "einops", "av"]), quietly():
    from lossproof_view import _factory


def rows(file):
    made = _factory.make(file, None, tempfile.mkdtemp())["rows"]
    return [{"input_ids": row["ids"], "labels": row["labels"]} for row in made]


tell(rows)

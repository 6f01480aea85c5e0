"""The prompt as a chat template, in a folder with the tokenizer: Open-Reasoner-Zero has the text in its code. It is asked for the text
around a question once; whether it writes every question between the same two texts is what the harness then asks."""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from lossproof.adapters.common._tiny import stop
from lossproof.adapters.orz._model import FOLDER
from lossproof.adapters.orz.texts import prompts_of

FILES = ["tokenizer.json", "tokenizer_config.json"]
MARK = "\ue000"


def template():
    before, after = prompts_of([MARK])[0].split(MARK)
    if any(mark in before + after for mark in ("{{", "{%", "{#")):
        stop("the prompt of this commit has text that a chat template cannot hold as it is")
    return (
        "{%%- set asked = messages[:-1] if messages[-1]['role'] == 'assistant' else messages %%}"
        "%s{{ asked | map(attribute='content') | join('\\n') }}%s"
        "{%%- if messages[-1]['role'] == 'assistant' %%}{{ messages[-1]['content'] + eos_token }}{%%- endif %%}" % (before, after)
    )


def folder():
    """Named by what it holds: every process of a run names the same. Moved there whole, and looked at where it was there before."""
    held = {name: (FOLDER / name).read_bytes() for name in FILES if (FOLDER / name).is_file()}
    held["chat_template.jinja"] = template().encode("utf-8")
    name = hashlib.sha256(b"".join(hashlib.sha256(held[each]).digest() for each in sorted(held))).hexdigest()[:16]
    place = Path(tempfile.gettempdir()) / ("lossproof-orz-" + name)
    if not place.is_dir():
        made = Path(tempfile.mkdtemp(prefix="lossproof-orz-"))
        for each, content in held.items():
            (made / each).write_bytes(content)
        try:
            os.rename(made, place)
        except OSError:  # another process was first
            shutil.rmtree(made)
    if any((place / each).is_symlink() or (place / each).read_bytes() != content for each, content in held.items()):
        stop("%s is not what this adapter has written there; remove it" % place)
    return place

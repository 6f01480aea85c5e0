"""What a golden file of our own is and how it is written: the same text on every machine.

A file has `about`, `made_by`, `versions` and `entries`. An entry has an `id`, the `source` of its formula, `how` its
answer was computed, `compute` (which function of the harness is held to it), `input` and `answer`.
"""

import argparse
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# A list that fits is written on one line: rows of numbers are read as rows.
LINE = 110


def entry(id, source, how, compute, input, answer, **more):
    return {"id": id, "source": source, "how": how, "compute": compute, "input": input, "answer": answer, **more}


def folder_of(name):
    """The folder to write into: golden/NAME, or NAME below --out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=str(ROOT / "golden"), help="a folder other than golden/")
    folder = Path(parser.parse_args().out) / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write(folder, name, about, made_by, versions, entries):
    ids = [each["id"] for each in entries]
    assert len(set(ids)) == len(ids), f"{name}: an id is there twice"
    value = {"about": about, "made_by": made_by, "versions": versions, "entries": entries}
    (folder / f"{name}.json").write_text(text(value, 0) + "\n", encoding="utf-8", newline="\n")
    print(f"{folder.name}/{name}.json: {len(entries)} entries")


def text(value, depth):
    plain = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, (dict, list)) or len(value) == 0:
        return plain
    inner = "  " * (depth + 1)
    if isinstance(value, list):
        if len(plain) + len(inner) <= LINE and not holds_dict(value):
            return plain
        if all(isinstance(item, (int, float)) for item in value):
            return "[\n" + ",\n".join(inner + line for line in wrapped(value, LINE - len(inner))) + "\n" + "  " * depth + "]"
        items = [inner + text(item, depth + 1) for item in value]
        return "[\n" + ",\n".join(items) + "\n" + "  " * depth + "]"
    items = [f"{inner}{json.dumps(key)}: {text(item, depth + 1)}" for key, item in value.items()]
    return "{\n" + ",\n".join(items) + "\n" + "  " * depth + "}"


def holds_dict(value):
    return any(isinstance(item, dict) or (isinstance(item, list) and holds_dict(item)) for item in value)


def wrapped(numbers, width):
    line = ""
    for number in numbers:
        word = json.dumps(number)
        if line and len(line) + len(word) + 2 > width:
            yield line
            line = word
        else:
            line = f"{line}, {word}" if line else word
    yield line

"""`python -m lossproof_door.adapter FILE NAME`: the trainer that a test file declares as NAME, answering the harness."""

import lossproof  # first: it takes standard output before anything can print

import importlib  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402

from ._declared import Properties  # noqa: E402


def main(file, name):
    module = importlib.import_module(_module_of(os.path.abspath(file)))
    declared = getattr(module, name, None)
    if not isinstance(declared, Properties):
        raise SystemExit("lossproof: %s declares no %s = lossproof.pytest.properties(...)" % (file, name))
    lossproof.serve(declared.name or name, **declared.serve)


def _module_of(file):
    """Its name, with the folder that it is imported from put on the path, as pytest imports a test file."""
    folder, base = os.path.split(file)
    parts = [os.path.splitext(base)[0]]
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, base = os.path.split(folder)
        parts.insert(0, base)
    sys.path.insert(0, folder)
    return ".".join(parts)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Whether there is another lossproof than this one here, as a sentence: an older one in PYTHONPATH, as a rule.

Python imports what comes first. Where that is `lossproof` alone, this package belongs to another one. Where it is all of it, this very
file runs out of the folder that nobody means, and what pip has installed never runs: each version looks for the others, so
that the one that runs can say it. Nothing is imported for that: folders are listed, because start-up counts."""

import importlib.util
import os
import sys

_BEGIN, _END = "lossproof-", ".dist-info"


def other():
    """The sentence, without a full stop; None where there is no other."""
    return _other_sdk() or _other_installed()


def warn():
    """For whoever is called in a process of the user's."""
    sentence = other()
    if sentence is not None:
        import warnings

        warnings.warn("lossproof: %s" % sentence, stacklevel=3)


def _other_sdk():
    """What the engine starts gets the engine's own all the same; what imports it in this Python, a test or a notebook, does not."""
    spec = importlib.util.find_spec("lossproof")
    found = os.path.dirname(spec.origin) if spec is not None and spec.origin else None
    own = os.path.join(_own(), "lossproof")
    if found is None or _same(found, own):
        return None
    return "`import lossproof` gives %s here, and not %s, which belongs to the command and to pytest's plugin; %s" % (
        found,
        own,
        _way_out(os.path.dirname(found)),
    )


def _other_installed():
    own = _own()
    if any(_same(own, folder) for folder in _site_folders()):
        return None
    version = None
    for folder in sys.path:
        for installed in _versions_in(folder):
            if _same(folder, own):
                continue
            version = version or _version()
            if version is not None and installed != version:
                return "this is lossproof %s of %s, and it hides lossproof %s, which is installed in %s; %s" % (
                    version,
                    own,
                    installed,
                    folder,
                    _way_out(own),
                )
    return None


def _own():
    """The folder that this package was imported from."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _site_folders():
    """Where pip installs to. What comes from there is meant, also where a system below it has another version."""
    site = sys.modules.get("site")
    try:
        return site.getsitepackages() + [site.getusersitepackages()] if site is not None else []
    except Exception:  # no Python has promised that they are there
        return []


def _versions_in(folder):
    try:
        names = os.listdir(folder or os.curdir)
    except OSError:
        return []
    return [name[len(_BEGIN) : -len(_END)] for name in names if name.startswith(_BEGIN) and name.endswith(_END)]


def _version():
    """Of this one: package.json says it, in the engine of a wheel and in a checkout."""
    import json

    for folder in (os.path.join(_own(), "lossproof_door", "engine"), os.path.dirname(os.path.dirname(_own()))):
        try:
            with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
                return json.load(file)["version"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def _way_out(folder):
    if any(_same(each, folder) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each):
        return "take %s out of PYTHONPATH" % folder
    if _same(folder, os.curdir):
        return "start from another folder than %s" % folder
    return "take %s out of sys.path" % folder


def _same(one, another):
    return os.path.realpath(one) == os.path.realpath(another)

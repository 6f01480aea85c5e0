"""LLaMA-Factory, https://github.com/hiyouga/LLaMA-Factory: an adapter, a file per stage. The library itself is `llamafactory` alone,
wherever it is imported."""

import os

# Before it is imported. What is stubbed has no version to compare, and its own requirements are narrower than what works.
os.environ.setdefault("DISABLE_VERSION_CHECK", "1")
# It warns of every conversation that it leaves out.
os.environ.setdefault("LLAMAFACTORY_VERBOSITY", "ERROR")

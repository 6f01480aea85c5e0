"""OpenRLHF, https://github.com/OpenRLHF/OpenRLHF: an adapter, a file per stage. The library itself is `openrlhf` alone, wherever it is
imported."""

import os

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # before torch: to compile an entropy of a few numbers takes a C++ compiler and a minute

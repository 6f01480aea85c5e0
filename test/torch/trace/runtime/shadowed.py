"""Says whether the sitecustomize of the user ran; no torch."""

import os
import sys

print(os.environ.get("SHADOWED"), sys.modules["sitecustomize"].__file__, "torch" in sys.modules)

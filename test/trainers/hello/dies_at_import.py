"""An import fails, as without the right environment."""
import sys

sys.stderr.write("FutureWarning: something harmless\n")
import a_package_that_nobody_has  # noqa: E402, F401

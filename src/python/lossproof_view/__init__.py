"""Rows of a configuration as the installed trainer makes them: the other end of `lossproof view --config`."""

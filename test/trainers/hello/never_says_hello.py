"""Reads and stays silent."""
import sys

import plain

plain.note_pid()
for _ in sys.stdin:
    pass

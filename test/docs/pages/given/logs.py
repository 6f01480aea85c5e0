"""Prints the log of a run, as a script that pages follow does."""

import time

for step in range(1, 101):
    print("{'loss': %.4f, 'learning_rate': %.6f, 'step': %d}" % (2 - step / 100, 1e-4 - step * 5e-7, step), flush=True)
time.sleep(2)

"""Does not take the end of its input for an answer."""
import time

import plain

plain.serve(plain.good)
time.sleep(3600)

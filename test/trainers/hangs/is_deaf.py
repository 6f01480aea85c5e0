"""Says hello and reads nothing more; so does a process that it has started."""
import subprocess
import sys
import time

import plain

plain.note_pid()
plain.note_pid(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]).pid)
sys.stdin.readline()
plain.write('{"id": 1, "ok": {"protocol": 1, "name": "deaf", "ops": {"advantages": {}}}}\n')
time.sleep(3600)

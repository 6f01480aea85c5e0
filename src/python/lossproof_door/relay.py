"""`python .../relay.py PORT`: the trainer as the engine sees it where functions live in a process that was there before, a
notebook's. What comes in goes there, and what comes from there goes out. It is run as a file, and imports nothing of ours."""

import os
import socket
import sys
import threading

SECRET = "LOSSPROOF_RELAY"
_CHUNK = 1 << 16


def main(port):
    # The word by which the notebook knows its own relay: any process of this machine can reach the port.
    secret = os.environ.pop(SECRET, "")
    there = socket.create_connection(("127.0.0.1", int(port)))
    there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    there.sendall(secret.encode("ascii") + b"\n")
    threading.Thread(target=_send, args=(there,), daemon=True).start()
    while True:
        data = there.recv(_CHUNK)
        if not data:
            return
        while data:
            data = data[os.write(1, data) :]


def _send(there):
    while True:
        data = os.read(0, _CHUNK)
        if not data:
            there.shutdown(socket.SHUT_WR)
            return
        there.sendall(data)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except (OSError, KeyboardInterrupt):
        pass  # one of the two ends has gone, and that end is told of it by the other

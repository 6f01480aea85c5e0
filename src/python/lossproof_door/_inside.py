"""Functions of this process as a trainer: relays of the engine (relay.py) connect here, and this thread answers.

The answers are given by the thread that asks for the check, because what belongs to a thread (a device, whether gradients are
recorded) is as the user has set it there. Where a function hangs, the engine ends the relay, and the function is interrupted as
by Ctrl-C."""

import contextlib
import hmac
import queue
import secrets
import socket
import threading

from ._ctrl_c import CtrlC, Ended

_CHUNK = 1 << 16
# pace
_POLL_SECONDS = 0.2


class Inside:
    """Listens at once, for whoever knows the secret."""

    def __init__(self, answer):
        self.secret = secrets.token_hex(16)
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        # (connection, line), and (connection, None) at its end.
        self._lines = queue.Queue()
        self._busy_with = None
        self._ctrl_c = CtrlC()
        threading.Thread(target=self._accept, daemon=True).start()

    def serve_until(self, done):
        """Answers until the event is set. A Ctrl-C of the user's goes on to the caller."""
        with self._ctrl_c:
            while not done.is_set():
                with contextlib.suppress(Ended):
                    self._serve(done)

    def close(self):
        self._listener.close()

    def _serve(self, done):
        while not done.is_set():
            try:
                connection, line = self._lines.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                continue
            self._busy_with = connection
            try:
                answer = self._answer(line)
            finally:
                self._busy_with = None
            try:
                connection.sendall(answer.encode("ascii"))
            except OSError:
                pass  # that relay was ended; what it was asked is asked again of another

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        rest, known = b"", False
        while True:
            try:
                chunk = connection.recv(_CHUNK)
            except OSError:
                chunk = b""
            if not chunk:
                break
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if known:
                    self._lines.put((connection, line))
                elif hmac.compare_digest(line, self.secret.encode("ascii")):
                    known = True
                else:
                    connection.close()
                    return
        if known and self._busy_with is connection:
            self._ctrl_c.end()  # nobody waits for what the function would answer

"""The process that has imported everything: it tells which changes there are, and forks for whoever asks over its socket.

To the engine it is a trainer like any other, unchanged, that answers on its own pipes. Everything that it forks ends with the
client that asked for it, or with the input of this process.
"""

import gc
import hashlib
import os
import select
import shutil
import signal
import socket
import sys

from ._changes import Unread, changes_of
from ._fork import child, requested
from ._lines import IMPORT
from ._live import Live
from ._told import PLAN, SOCKET, read_source, write

READ_BYTES = 1 << 16
WAITING = 64  # clients; the engine has as many as it has workers


def serve(folder, sources, lines, loop, source, answer):
    paths, problems = sources.chosen()
    texts, files, changes = {}, [], []
    for path in paths:
        try:
            text = read_source(path)
            own = changes_of(text, sources.shown(path))
        except Unread as why:
            problems.append(str(why))
            continue
        except (OSError, SyntaxError, UnicodeError) as why:
            problems.append("%s cannot be read: %s" % (sources.shown(path), why))
            continue
        texts[path] = text
        with open(path, "rb") as file:
            print_of = hashlib.sha256(file.read()).hexdigest()
        files.append({"path": path, "shown": sources.shown(path), "print": print_of, "imported": lines.of(IMPORT, path)})
        changes += [dict(change, file=len(files) - 1) for change in own]
    main = os.path.realpath(getattr(sys.modules.get("__main__"), "__file__", None) or "")
    plan = {"python": sys.executable, "files": files, "changes": changes, "problems": problems, "script": main}
    plan["forks"] = hasattr(os, "fork") and hasattr(socket, "AF_UNIX")
    listener = _listen(folder) if plan["forks"] else None
    state = State(Live(texts), {change["id"]: (files[change["file"]]["path"], change) for change in changes}, lines)
    gc.collect()
    gc.freeze()  # so that a fork copies no page for the sake of a collection
    write(folder, PLAN, plan)
    if listener is None:
        loop(source, answer)
    else:
        _Server(state, listener, loop, source, answer).run()
        # An engine that was killed could not do it.
        shutil.rmtree(folder, ignore_errors=True)


class State:
    """What a fork needs of its parent."""

    def __init__(self, live, changes, lines):
        self.live, self.changes, self.lines = live, changes, lines


def _listen(folder):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # A path of a socket has some hundred bytes at most, and a folder may have more.
    before = os.getcwd()
    os.chdir(folder)
    try:
        listener.bind(SOCKET)
    finally:
        os.chdir(before)
    listener.listen(WAITING)
    return listener


class _Server:
    def __init__(self, state, listener, loop, source, answer):
        self.state, self.listener, self.loop, self.source, self.answer = state, listener, loop, source, answer
        self.forked = {}  # pid: the client's socket
        self.waiting = b""

    def run(self):
        ended, self.waker = os.pipe()
        for end in (ended, self.waker):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        while True:
            clients = {client: pid for pid, client in self.forked.items()}
            ready, _, _ = select.select([self.source, self.listener, ended, *clients], [], [])
            if ended in ready:
                os.read(ended, READ_BYTES)
                self._reap()
            for client in ready:
                # A client says nothing more: what comes is its end.
                if client in clients and clients[client] in self.forked:
                    self._kill(clients[client])
            if self.listener in ready:
                self._accept(ended)
            if self.source in ready and not self._requests():
                break
        for pid in list(self.forked):
            self._kill(pid)

    def _requests(self):
        """Answers as the adapter would; False where there is nobody left to ask."""
        chunk = os.read(self.source, READ_BYTES)
        *whole, self.waiting = (self.waiting + chunk).split(b"\n")
        from lossproof._channel import write as tell  # it is there: its `serve` has called us

        try:
            tell("".join(self.answer(line) for line in whole))
        except BrokenPipeError:
            return False
        return bool(chunk)

    def _accept(self, ended):
        client, _ = self.listener.accept()
        asked = requested(client)
        if asked is None:
            client.close()
            return
        request, pipes = asked
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for other in [self.listener, client, *self.forked.values()]:
                other.close()
            for end in (ended, self.waker, self.source):
                os.close(end)
            child(self.state, request, pipes, self.loop, self.answer)
        for pipe in pipes:
            os.close(pipe)
        self.forked[pid] = client

    def _kill(self, pid):
        client = self.forked.pop(pid)
        client.close()
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass  # it has ended meanwhile

    def _reap(self):
        for pid in list(self.forked):
            gone, status = os.waitpid(pid, os.WNOHANG)
            if gone == 0:
                continue
            client = self.forked.pop(pid)
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            how = "signal" if os.WIFSIGNALED(status) else "exit"
            try:
                client.sendall(b"%s %d\n" % (how.encode(), number))
            except OSError:
                pass  # nobody waits for it any more
            client.close()

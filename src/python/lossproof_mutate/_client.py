"""python -I -S _client.py FOLDER REQUEST: a process that the engine can start, feed and kill like a trainer, and that a fork of the
server answers for. It hands over its standard streams, waits, and ends as the fork did."""

import array
import os
import signal
import socket
import sys


def main(folder, request):
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.chdir(folder)
    server.connect("socket")
    pipes = array.array("i", [0, 1, 2])
    server.sendmsg([request.encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, pipes)])
    # From here on the pipes are the fork's: were one held here, its end would not be seen.
    empty = os.open(os.devnull, os.O_RDWR)
    os.dup2(empty, 0)
    os.dup2(empty, 1)
    said = b""
    while not said.endswith(b"\n"):
        more = server.recv(64)
        if not more:
            return 1
        said += more
    how, number = said.split()
    if how == b"exit":
        return int(number)
    signal.signal(int(number), signal.SIG_DFL)
    os.kill(os.getpid(), int(number))
    return 1


try:
    code = main(*sys.argv[1:])
except (OSError, ValueError) as error:
    sys.stderr.write("lossproof: %s\n" % error)
    code = 1
os._exit(code)

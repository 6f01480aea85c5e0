"""Linux' own word on files: from here on this process, and whatever it starts, writes below one folder alone and starts no program. It
holds for C code and system calls, of which Python's audit events hear nothing; reading is left as it is. Since Linux 5.13."""

import ctypes
import os
import struct
import sys

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on all machines that lossproof runs on
_VERSION, _PATH_BENEATH, _NO_NEW_PRIVS = 1, 1, 38
_EXECUTE, _WRITE = 1 << 0, 1 << 1
# Removing and making of each kind; since version 2 moving between folders, since 3 cutting a file off.
_CHANGES = sum(1 << bit for bit in range(4, 13))
_LATER = {2: 1 << 13, 3: 1 << 14}
_NOWHERE = "/dev/null"


def restricted(folder):
    """False where the system has nothing of the kind."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(_VERSION))
        if version < 1:
            return False
        writes = _WRITE | _CHANGES | sum(bit for since, bit in _LATER.items() if version >= since)
        handled = struct.pack("=Q", writes | _EXECUTE)
        rules = libc.syscall(_CREATE, handled, ctypes.c_size_t(len(handled)), ctypes.c_uint(0))
        if rules < 0:
            return False
        try:
            allowed = _allow(libc, rules, folder, writes) and _allow(libc, rules, _NOWHERE, writes & (_WRITE | _LATER[3]))
            without = libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            return allowed and without and libc.syscall(_RESTRICT, rules, ctypes.c_uint(0)) == 0
        finally:
            os.close(rules)
    except (OSError, AttributeError):
        return False


def _allow(libc, rules, path, access):
    at = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        return libc.syscall(_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", access, at), ctypes.c_uint(0)) == 0
    finally:
        os.close(at)

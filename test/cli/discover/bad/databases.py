import os
import sqlite3


def k3(logprobs, ref_logprobs):
    sqlite3.connect(os.path.join(os.path.dirname(__file__), "left.db")).execute("create table a (b)")
    return logprobs

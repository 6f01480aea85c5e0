import os


def k3(logprobs, ref_logprobs):
    os.fork()
    return logprobs

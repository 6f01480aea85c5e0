import os


def k3(logprobs, ref_logprobs):
    os._exit(3)
    return logprobs

import time


def k3(logprobs, ref_logprobs):
    time.sleep(3600)
    return logprobs

def k3(logprobs, ref_logprobs):
    while True:
        pass
    return logprobs

raise RuntimeError("this file is not to be imported")


@nobody
def k3(logprobs, ref_logprobs):
    return logprobs

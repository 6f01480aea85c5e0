def k3(logprobs, ref_logprobs)
    return logprobs

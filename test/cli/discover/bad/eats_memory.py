def k3(logprobs, ref_logprobs):
    return [bytes(1 << 30) for _ in range(1000)]

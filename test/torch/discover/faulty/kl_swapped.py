def k3(logprobs, ref_logprobs):
    difference = logprobs - ref_logprobs  # the other way round
    return difference.exp() - difference - 1

def mean_kl(logprobs, ref_logprobs, mask):
    difference = (ref_logprobs - logprobs) * mask
    return (difference.exp() - difference - 1).mean()  # padding counts

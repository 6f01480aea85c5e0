def k3(logprobs, ref_logprobs):
    while True:
        try:
            while True:
                pass
        except:  # noqa: E722
            continue
    return logprobs

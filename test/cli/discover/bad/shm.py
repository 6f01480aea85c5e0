def k3(logprobs, ref_logprobs):
    with open("/dev/shm/left-by-discover", "w") as file:
        file.write("x")
    return logprobs

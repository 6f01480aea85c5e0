import os


def k3(logprobs, ref_logprobs):
    with open(os.path.join(os.path.dirname(__file__), "left-behind"), "w") as file:
        file.write("x")
    return logprobs

import multiprocessing
import os


def work(path):
    open(path, "w").close()


def k3(logprobs, ref_logprobs):
    path = os.path.join(os.path.dirname(__file__), "left-by-spawn")
    process = multiprocessing.get_context("spawn").Process(target=work, args=(path,))
    process.start()
    process.join(2.0)
    return logprobs

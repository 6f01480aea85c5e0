"""Two processes on gloo: a model inside of DistributedDataParallel, and one beside it. A JSON line a case, read by
forward.test.ts; the file starts itself once for each rank."""

import json
import os
import subprocess
import sys
import tempfile


def worker(rank, meeting):
    import torch
    import torch.distributed as dist
    from hand_cases import Hand
    from torch.nn.parallel import DistributedDataParallel
    from watching import SESSION, plain

    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2)
    torch.manual_seed(rank)
    out = {}
    for name, wrap in (("averaged", DistributedDataParallel), ("alone", lambda model: model)):
        SESSION.records.clear()
        out[name] = plain(wrap(Hand()), lambda m, i: m(i))
        (forward,) = SESSION.of("forward")
        out[name]["over"] = forward["averaged_over"]
    troubles = [record["traceback"] for record in SESSION.of("trouble")]
    print(json.dumps({"case": "rank %d of two" % rank, "out": out, "troubles": troubles}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        worker(int(sys.argv[1]), sys.argv[2])
    else:
        with tempfile.TemporaryDirectory() as folder:
            meeting = os.path.join(folder, "meeting")
            command = [sys.executable, __file__]
            ranks = [subprocess.Popen([*command, str(rank), meeting], stdout=subprocess.PIPE, text=True) for rank in range(2)]
            for rank in ranks:
                print(rank.communicate()[0], end="", flush=True)
            sys.exit(max(rank.returncode for rank in ranks))

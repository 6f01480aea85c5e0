"""A policy gradient in the way of today's trainers: rollout actors sample, a learner steps, weights go back. With `--ray` each is an
actor of Ray; without, an object of this process. The same numbers either way. `--fault` plants one mistake."""

import argparse
import os
import sys
import time
from pathlib import Path

# What the traced scripts have in common; workers on the driver's file system get its sys.path from Ray.
SHARED = [str(Path(__file__).resolve().parents[2] / "trace" / "scripts" / part) for part in ("", "samplers")]
sys.path[:0] = SHARED

parser = argparse.ArgumentParser()
parser.add_argument("--ray", choices=["no", "init", "implicit"], default="no")
parser.add_argument("--address")
parser.add_argument("--own", action="store_true", help="a runtime environment of the script's own")
parser.add_argument("--by-options", action="store_true", help="each actor has one of its own, as verl's worker groups do")
parser.add_argument("--within-task", action="store_true")
parser.add_argument("--learners", type=int, default=1, help="so many ranks, which average their gradients")
parser.add_argument("--sampler", choices=["loop", "generate"], default="loop")
parser.add_argument("--steps", type=int, default=2)
parser.add_argument("--kill", choices=["learner", "rollout", "driver", "done"], help="behind the second step, if there are more")
parser.add_argument("--rollouts-on", help="a resource that only one node has")
parser.add_argument("--end-node", type=int, help="process group of a node that dies behind the last step")
parser.add_argument("--leave", choices=["end", "shutdown"], default="end")
parser.add_argument("--fault", choices=["prompt", "stop-untrained", "shifted"])
options = parser.parse_args()
GROUP, LENGTH, TEMPERATURE = 4, 8, 0.7
ASKED = ["say abc", "say hello", "say a longer one", "say why"]


class Model:
    def __init__(self, path):
        sys.path[:0] = [each for each in path if each not in sys.path]
        import tiny
        import torch

        torch.set_num_threads(1)
        self.tokenizer = tiny.letters()
        if options.sampler == "generate":
            self.net = tiny.rotary(len(self.tokenizer), 7)
        else:
            from nets import Llama

            torch.manual_seed(7)
            self.net = Llama(len(self.tokenizer))
            torch.nn.init.normal_(self.net.embed.weight, std=0.3)
            torch.nn.init.constant_(self.net.norm.weight, 0.4)

    def scores(self, net, ids, mask):
        return net(ids, attention_mask=mask).logits if options.sampler == "generate" else net(ids, mask)

    def seen(self):
        """What of the script's own runtime environment has come here."""
        return {name: os.environ.get(name) for name in ("MARK_OF_JOB", "MARK_OF_ACTOR", "MARK_OF_HOOK")}


    def die(self):
        os.kill(os.getpid(), 9)


class Rollout(Model):
    def sample(self, weights, prompts, seed):
        """(ids, first column of the completion) of each row."""
        import torch
        from draws import grown, nucleus

        self.net.load_state_dict(weights)
        self.net.eval()
        torch.manual_seed(seed)
        pad, stop = self.tokenizer.pad_token_id, self.tokenizer.eos_token_id
        encoded = [self.tokenizer.encode(text, add_special_tokens=False) for text in prompts for _ in range(GROUP)]
        width = max(map(len, encoded))
        ids = torch.tensor([[pad] * (width - len(row)) + row for row in encoded])
        mask = (ids != pad).long()
        with torch.no_grad():
            if options.sampler == "generate":
                settings = dict(do_sample=True, temperature=TEMPERATURE, top_k=0, max_new_tokens=LENGTH)
                out = self.net.generate(ids, attention_mask=mask, eos_token_id=stop, pad_token_id=pad, **settings)
            else:
                out = grown(lambda x: self.net(x, torch.cat([mask, mask.new_ones(len(x), x.shape[1] - width)], 1)), ids, nucleus, LENGTH, stop, pad)
        return [(row[width - len(prompt) :], len(prompt)) for row, prompt in zip(out.tolist(), encoded)]


class Policy(Model):
    def __init__(self, path, scoring, ranks=1):
        super().__init__(path)
        from learning import Learner
        import torch

        class Own(Learner):
            def row(self, ids, start):
                ids, weights = super().row(ids, start)
                return (ids, weights[1:] + weights[:1]) if options.fault == "shifted" else (ids, weights)

        net, self.ranks = self.net, ranks
        if ranks > 1:
            # Where and which: from the environment, as verl's actors have it.
            torch.distributed.init_process_group("gloo")
            net = torch.nn.parallel.DistributedDataParallel(self.net)
        self.learner = Own(net, None, self.scores, self.tokenizer, scoring, argparse.Namespace(fault=options.fault, beta=0.0))

    def weights(self):
        return self.net.state_dict()

    def step(self, rows):
        return self.learner.step(rows, GROUP), self.weights()

    def leave_group(self):
        import torch

        torch.distributed.destroy_process_group()



def mark():
    os.environ["MARK_OF_HOOK"] = "called in every worker"


def begin():
    import ray

    if options.ray == "init":
        environment = {"worker_process_setup_hook": mark, "env_vars": {"MARK_OF_JOB": "job"}} if options.own else None
        here = dict(num_cpus=2, include_dashboard=False, object_store_memory=100_000_000)
        where = dict(address=options.address) if options.address else dict(here, _temp_dir=os.environ["RAY_TEMP"])
        ray.init(runtime_env=environment, log_to_driver=False, logging_level="ERROR", **where)
    return ray


ray = begin() if options.ray != "no" else None


def actor(kind, *args, rank=None, port=None, on=None):
    if ray is None:
        return kind(*args)
    # What Ray pickles by value has no module to be imported where it goes.
    made = ray.remote(num_cpus=0, resources={on: 0.01} if on else None)(kind)
    if options.by_options or rank is not None:
        place = {} if rank is None else {"RANK": str(rank), "WORLD_SIZE": str(options.learners), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        made = made.options(runtime_env={"env_vars": {"MARK_OF_ACTOR": kind.__name__, **place}})
    return made.remote(*args)


def free_port():
    import socket

    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return str(it.getsockname()[1])


def asked(objects, name, *args):
    """Of all of them, at once where they are actors; `args` are lists, one entry for each."""
    if ray is None:
        return [getattr(each, name)(*(arg[at] for arg in args)) for at, each in enumerate(objects)]
    return ray.get([getattr(each, name).remote(*(arg[at] for arg in args)) for at, each in enumerate(objects)])


def train():
    port = free_port()
    rollouts = [actor(Rollout, SHARED, on=options.rollouts_on) for _ in range(2)]
    many = options.learners
    learners = [actor(Policy, SHARED, TEMPERATURE, many, rank=at if many > 1 else None, port=port) for at in range(many)]
    if options.own or options.by_options:
        print("seen", asked(rollouts[:1] + learners[:1], "seen"))
    weights = asked(learners[:1], "weights")[0]
    for step in range(options.steps):
        halves = asked(rollouts, "sample", [weights] * 2, [ASKED[:2], ASKED[2:]], [10 * step + 1, 10 * step + 2])
        parts = [halves[0] + halves[1]] if many == 1 else halves
        told = asked(learners, "step", parts)
        weights = told[0][1]
        print("step", step, "loss", told[0][0], flush=True)
        if step == 1 and options.kill:
            if options.kill == "driver":
                os.kill(os.getpid(), 9)
            if options.kill == "done":
                # As scripts do with actors that they need no more.
                for each in rollouts:
                    ray.kill(each)
            else:
                # Ray tells nobody who does not ask.
                (learners if options.kill == "learner" else rollouts)[0].die.remote()
            time.sleep(1)
            break
    if options.end_node is not None:
        os.killpg(options.end_node, 9)
        while sum(node["Alive"] for node in ray.nodes()) > 1:
            time.sleep(0.2)


if options.within_task:
    # As verl has it: the driver only waits for a task that makes the workers.
    ray.get(ray.remote(num_cpus=1)(train).remote())
else:
    train()
if options.leave == "shutdown":
    ray.shutdown()
print("end of script")

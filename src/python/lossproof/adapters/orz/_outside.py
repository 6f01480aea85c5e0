"""What Open-Reasoner-Zero calls of Ray, vLLM, DeepSpeed and CUDA, where it does not matter to what is asked: a remote call is a call,
a sampler says what the request holds, an optimiser's step is left out."""

import contextlib
from types import SimpleNamespace

from lossproof.adapters.common._checkout import Quiet
from lossproof.testing import replaced

import torch


class Done:
    """What a remote call gave, to be awaited or fetched by ray.get."""

    def __init__(self, value):
        self.value = value

    def __await__(self):
        return self.value
        yield  # an awaitable is a generator


def remote(*decorated, **_):
    """ray.remote, with or without arguments: functions get a .remote, which runs them; classes stay what they are."""
    if not decorated:
        return remote
    (made,) = decorated
    if not isinstance(made, type):
        made.remote = lambda *args, **options: Done(made(*args, **options))
    return made


def fetched(reference):
    return [fetched(each) for each in reference] if isinstance(reference, list) else reference.value


class Strategy:
    """ORZDeepspeedStrategy of one process: it adds up the losses that are backwarded."""

    def __init__(self):
        self.total = 0.0

    def backward(self, loss, *_):
        if loss.requires_grad:
            loss.backward()
        self.total += float(loss.detach())

    def optimizer_step(self, *_, **__):
        """Left to who asked: there it is plain descent."""

    def all_reduce(self, status, *_):
        return status

    def is_rank_0(self):
        return False  # the others show no progress


class Schedule:
    """Of a learning rate, which is logged."""

    def get_last_lr(self):
        return [0.0]


class Engine:
    """vLLM. sampled: says what it samples, when it is asked: ids, one row per prompt. prompts: the ids that it was handed."""

    def __init__(self, tokenizer, sampled):
        self.tokenizer, self.sampled, self.prompts = tokenizer, sampled, []
        self.generate = SimpleNamespace(remote=lambda **asked: Done(self._generate(**asked)))

    def _generate(self, prompt_token_ids, sampling_params, **_):
        self.prompts = [list(ids) for ids in prompt_token_ids]
        said = [self._said(ids, sampling_params) for ids in self.sampled()]
        return [SimpleNamespace(outputs=[each], prompt_logprobs=None) for each in said]

    def _said(self, ids, sampling):
        """A completion that ends by its stop keeps the text of that only where the caller wants it."""
        stopped = bool(ids) and ids[-1] == self.tokenizer.eos_token_id
        kept = ids[:-1] if stopped and not sampling.get("include_stop_str_in_output") else ids
        text = self.tokenizer.decode(kept, skip_special_tokens=sampling.get("skip_special_tokens", True))
        return SimpleNamespace(text=text, finish_reason="stop" if stopped else "length", token_ids=tuple(ids))


class Packed(torch.nn.Module):
    """A model as flash-attention runs it: where a mask hides nothing it is not read, and rows are told apart by their positions."""

    def __init__(self, model):
        super().__init__()
        self.model, self.config = model, model.config
        self.config.use_cache = False  # as the trainer sets it where it loads a model

    def forward(self, input_ids, attention_mask=None, position_ids=None):
        hidden = attention_mask is not None and bool((attention_mask == 0).any())
        return self.model(input_ids, attention_mask=attention_mask if hidden else None, position_ids=position_ids)


@contextlib.contextmanager
def on_cpu():
    """Without a GPU, and without other processes to wait for."""
    device = {"current_device": lambda: torch.device("cpu")}
    with replaced(torch.cuda, **device), replaced(torch.distributed, barrier=lambda: None):
        yield


def answer():
    """Sets the above in the stubs; to be called before a file that imports them is loaded."""
    import loguru
    import ray
    import vllm

    loguru.logger = Quiet()
    ray.remote, ray.get = remote, fetched
    vllm.SamplingParams = dict

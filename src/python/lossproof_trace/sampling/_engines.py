"""Engines that sample in the script's name: what they are asked for, and the token ids that they return. The outputs are those of
vLLM's LLM and AsyncLLM (RequestOutput), and of SGLang's Engine (dicts with output_ids), at once or in pieces."""

import functools

from . import _streams
from ._streams import Piece

# Module: (class, name of the engine).
ENGINES = {
    "vllm.entrypoints.llm": ("LLM", "vllm"),
    "vllm.v1.engine.async_llm": ("AsyncLLM", "vllm"),
    "vllm.engine.async_llm_engine": ("AsyncLLMEngine", "vllm"),
    "trl.generation.vllm_client": ("VLLMClient", "vllm"),
    "trl.extras.vllm_client": ("VLLMClient", "vllm"),
    "sglang.srt.entrypoints.engine": ("Engine", "sglang"),
}
_heard = {}


def heard(session, source):
    """An engine, or the server behind it, has answered with ids."""
    _heard[source] = True


def install(session, module):
    name, source = ENGINES[module.__name__]
    owner = getattr(module, name, None)
    if owner is None:
        return
    if "__init__" in vars(owner):
        wrap_init(session, owner, source)
    read = vllm if source == "vllm" else sglang
    _streams.listen(session)
    for method in ("generate", "chat", "async_generate"):
        original = vars(owner).get(method)
        # One class has two names in vLLM.
        if name != "VLLMClient" and callable(original) and not hasattr(original, "lossproof_source"):
            setattr(owner, method, watched(session, original, source, read))
            getattr(owner, method).lossproof_source = source


def wrap_init(session, owner, source):
    original = owner.__init__

    @functools.wraps(original)
    def init(self, *args, **kwargs):
        with session.guard("engine"):
            if source not in _heard:
                _heard[source] = False
                session.on_ending.append(functools.partial(unheard, source))
        return original(self, *args, **kwargs)

    owner.__init__ = init


def unheard(source, session):
    if not _heard[source]:
        session.blind(
            source,
            "Completions are sampled by %s, an engine of its own, and no token ids of its answers were seen: what it sampled, "
            "and with which settings, is unknown. Ask it for token ids, or call its generate() in this process." % source,
        )


def watched(session, original, source, read):
    import inspect

    names = list(inspect.signature(original).parameters)[1:]

    def call_of(self, args, kwargs):
        given = dict(zip(names, args), **kwargs)
        return _streams.Call(session, source, functools.partial(read, self, given), heard)

    if inspect.isasyncgenfunction(original):

        @functools.wraps(original)
        async def stream(self, *args, **kwargs):
            pieces = _streams.handed(call_of(self, args, kwargs), original(self, *args, **kwargs))
            try:
                async for output in pieces:
                    yield output
            finally:
                await pieces.aclose()

        return stream

    if inspect.iscoroutinefunction(original):

        @functools.wraps(original)
        async def awaited(self, *args, **kwargs):
            return _streams.handed(call_of(self, args, kwargs), await original(self, *args, **kwargs))

        return awaited

    @functools.wraps(original)
    def wrapped(self, *args, **kwargs):
        session.enter_generating()
        try:
            output = original(self, *args, **kwargs)
        finally:
            session.leave_generating()
        return _streams.handed(call_of(self, args, kwargs), output)

    return wrapped


# What an engine's outputs say: the pieces in them, and whether those add to the ones before.


def vllm(engine, given, output):
    outputs = output if isinstance(output, (list, tuple)) else [output]
    # Without parameters vLLM takes those of the model's folder.
    params = given.get("sampling_params")
    kind = getattr(params, "output_kind", None)
    pieces = []
    for at, each in enumerate(outputs):
        own = params[at] if isinstance(params, (list, tuple)) and at < len(params) else params
        prompt = getattr(each, "prompt_token_ids", None)
        for nth, one in enumerate(getattr(each, "outputs", None) or ()):
            # Of several completions each comes by itself, with its place.
            place = (at, getattr(one, "index", nth))
            ids = getattr(one, "token_ids", None)
            logprobs = chosen(ids, getattr(one, "logprobs", None))
            pieces.append(Piece(place, prompt, ids, getattr(one, "stop_reason", None), own, logprobs))
    return pieces, getattr(kind, "name", None) == "DELTA"


def chosen(ids, logprobs):
    """Of vLLM's {id: Logprob} per token, those of the sampled ones; None where there are none, or of another form."""
    if not logprobs or ids is None or len(ids) != len(logprobs):
        return None
    found = [each.get(token) if isinstance(each, dict) else None for token, each in zip(ids, logprobs)]
    return [getattr(each, "logprob", None) for each in found]


def sglang(engine, given, output):
    outputs = output if isinstance(output, list) else [output]
    prompts = sglang_prompts(engine, given)
    params = given["sampling_params"] = given.get("sampling_params") or {}
    if not prompts or not all(isinstance(each, dict) for each in outputs):
        return [], False
    several = isinstance(params, (list, tuple))
    copies = (params[0] if several else params).get("n") or 1
    if isinstance(output, list):
        copies = max(1, len(outputs) // len(prompts))
    pieces = []
    for at, each in enumerate(outputs):
        # Of a batch in pieces each comes by itself, with its place.
        place = each.get("index", at)
        row = min(place // copies, len(prompts) - 1)
        reason = (each.get("meta_info") or {}).get("finish_reason") or {}
        own = params[row] if several else params
        told = (each.get("meta_info") or {}).get("output_token_logprobs")
        logprobs = [one[0] if isinstance(one, (list, tuple)) and one else None for one in told] if isinstance(told, list) else None
        pieces.append(Piece((place, 0), prompts[row], each.get("output_ids"), reason.get("matched"), own, logprobs))
    told = getattr(engine, "server_args", None)
    return pieces, any(getattr(told, name, False) is True for name in ("stream_output", "incremental_streaming_output"))


def sglang_prompts(engine, given):
    prompts = given.get("input_ids")
    if prompts is not None:
        return [prompts] if prompts and isinstance(prompts[0], int) else prompts
    texts = given.get("prompt")
    tokenizer = getattr(getattr(engine, "tokenizer_manager", None), "tokenizer", None)
    if tokenizer is None or texts is None:
        return None
    return [list(tokenizer.encode(text)) for text in ([texts] if isinstance(texts, str) else texts)]

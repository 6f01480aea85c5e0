"""Engines that sample in the script's name: what they are asked for, and the token ids that they return. The outputs are those of
vLLM's LLM and AsyncLLM (RequestOutput), and of SGLang's Engine (dicts with output_ids)."""

import functools

from ._answered import Answer, tell

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
    for method in ("generate", "chat"):
        if name != "VLLMClient" and callable(vars(owner).get(method)):
            setattr(owner, method, watched(session, vars(owner)[method], source, read))


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

    def saw(self, args, kwargs, output):
        with session.guard("engine"):
            given = dict(kwargs)
            names = list(inspect.signature(original).parameters)[1:]
            given.update(zip(names, args))
            for answers, asked in read(self, given, output):
                if tell(session, source, answers, asked):
                    heard(session, source)

    if inspect.isasyncgenfunction(original):

        @functools.wraps(original)
        async def stream(self, *args, **kwargs):
            last = None
            async for output in original(self, *args, **kwargs):
                last = output
                yield output
            if last is not None:
                saw(self, args, kwargs, [last])

        return stream

    @functools.wraps(original)
    def wrapped(self, *args, **kwargs):
        session.enter_generating()
        try:
            output = original(self, *args, **kwargs)
        finally:
            session.leave_generating()
        saw(self, args, kwargs, output)
        return output

    return wrapped


def vllm(engine, given, output):
    """Of each request's parameters a record: [(answers, what was asked for)]."""
    outputs = output if isinstance(output, (list, tuple)) else [output]
    params = given.get("sampling_params")
    groups = {}
    for at, each in enumerate(outputs):
        own = params[at] if isinstance(params, (list, tuple)) and at < len(params) else params
        for one in getattr(each, "outputs", None) or ():
            stop = getattr(one, "stop_reason", None)
            answer = Answer(getattr(each, "prompt_token_ids", None), getattr(one, "token_ids", None), stop)
            groups.setdefault(id(own), (own, []))[1].append(answer)
    # Without parameters vLLM takes those of the model's folder.
    return [(answers, functools.partial(setting, own)) for own, answers in groups.values()]


def setting(params, name):
    return params.get(name) if isinstance(params, dict) else getattr(params, name, None)


def sglang(engine, given, output):
    outputs = output if isinstance(output, list) else [output]
    prompts = given.get("input_ids")
    if prompts is None:
        texts = given.get("prompt")
        tokenizer = getattr(getattr(engine, "tokenizer_manager", None), "tokenizer", None)
        if tokenizer is None or texts is None:
            return []
        prompts = [list(tokenizer.encode(text)) for text in ([texts] if isinstance(texts, str) else texts)]
    elif prompts and isinstance(prompts[0], int):
        prompts = [prompts]
    params = given.get("sampling_params")
    copies = max(1, len(outputs) // max(1, len(prompts)))
    groups = {}
    for at, each in enumerate(outputs):
        if not isinstance(each, dict):
            return []
        row = at // copies
        own = params[row] if isinstance(params, (list, tuple)) else params or {}
        reason = (each.get("meta_info") or {}).get("finish_reason") or {}
        answer = Answer(prompts[row] if row < len(prompts) else None, each.get("output_ids"), reason.get("matched"))
        groups.setdefault(id(own), (own, []))[1].append(answer)
    return [(answers, functools.partial(setting, dict({"temperature": 1.0}, **own))) for own, answers in groups.values()]

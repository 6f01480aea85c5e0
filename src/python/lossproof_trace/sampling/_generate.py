"""Calls of generate(): what was given, what was sampled, with which settings; and that the forward passes inside are its own."""

import functools
import threading

from ..models import _models
from . import _chosen

# What a record says of a setting that is not plain: its name is enough.
PLAIN = (str, int, float, bool, type(None))
NAMED = {
    "eos_token_id",
    "pad_token_id",
    "do_sample",
    "temperature",
    "max_new_tokens",
    "max_length",
    "num_return_sequences",
    "bos_token_id",
    "transformers_version",
}


def install(session, module):
    mixin = module.GenerationMixin
    prepared = threading.local()
    calls = Calls(session)
    prepare = getattr(mixin, "_prepare_generation_config", None)
    if prepare is not None:

        @functools.wraps(prepare)
        def watched_prepare(self, *args, **kwargs):
            answer = prepare(self, *args, **kwargs)
            if isinstance(answer, tuple) and getattr(prepared, "config", None) is None:
                # generate() goes on to change this very object: afterwards it has what was used.
                prepared.config = answer[0]
            return answer

        mixin._prepare_generation_config = watched_prepare

    generate = mixin.generate

    @functools.wraps(generate)
    def watched(self, *args, **kwargs):
        session.checkpoint()
        if session.generating > 0:
            return generate(self, *args, **kwargs)
        prepared.config = None
        if session.decoding is not None:
            session.decoding.install()
        session.enter_generating()
        _chosen.begin()
        logprobs = None
        try:
            output = generate(self, *args, **kwargs)
        finally:
            session.leave_generating()
            with session.guard("generate"):
                logprobs = _chosen.end()
            config, prepared.config = prepared.config, None
        with session.guard("generate"):
            calls.record(self, args, kwargs, config, output, logprobs)
        return output

    mixin.generate = watched


def install_batches(session, module):
    mixin = getattr(module, "ContinuousMixin", None)
    batches = getattr(mixin, "generate_batch", None)
    if batches is None:
        return

    @functools.wraps(batches)
    def watched(self, *args, **kwargs):
        session.checkpoint()
        with session.guard("generate_batch"):
            session.blind(
                "continuous-batching",
                "Completions are sampled by generate_batch(), whose prompts and samples the tracer does not record; "
                "without continuous batching it does.",
            )
        session.enter_generating(everywhere=True)
        try:
            return batches(self, *args, **kwargs)
        finally:
            session.leave_generating(everywhere=True)

    mixin.generate_batch = watched


class Calls:
    def __init__(self, session):
        self.session = session

    def record(self, model, args, kwargs, config, output, logprobs=None):
        import torch

        session = self.session
        if getattr(getattr(model, "config", None), "is_encoder_decoder", False):
            session.blind("encoder-decoder", "generate() of an encoder-decoder model: only decoder-only models are traced.")
            return
        given = kwargs.get("input_ids")
        if given is None:
            given = kwargs.get("inputs", args[0] if args else None)
        sequences = output if isinstance(output, torch.Tensor) else getattr(output, "sequences", None)
        if given is None and kwargs.get("inputs_embeds") is not None:
            session.blind("embeds", "generate() was given embeddings and no ids: what it was prompted with is unknown.")
            return
        if not _is_ids(torch, sequences):
            return
        if given is None:
            # From the start token alone.
            given = sequences[:, :1]
        if not _is_ids(torch, given) or given.shape[0] == 0 or sequences.shape[0] % given.shape[0] != 0:
            return
        index = _models.index_of(session, model)
        if index is None or index < 0:
            return
        if config is None:
            config = kwargs.get("generation_config") or getattr(model, "generation_config", None)
        mask = kwargs.get("attention_mask")
        width = given.shape[1]
        # Both in one order, whatever it is: sampling is told by the configuration, and greedy has no temperature.
        sampled = bool(getattr(config, "do_sample", False))
        temperature = getattr(config, "temperature", None)
        session.write(
            "generate",
            generate=session.next_generation(),
            source="generate",
            model=index,
            step=session.step,
            input_ids=given,
            attention_mask=mask if _is_ids(torch, mask) and mask.shape == given.shape else None,
            sequences=sequences,
            prompt_width=width,
            copies=sequences.shape[0] // given.shape[0],
            eos_token_ids=_ids(_used(config, "eos")),
            pad_token_id=next(iter(_ids(_used(config, "pad"))), None),
            do_sample=sampled,
            temperature=(1.0 if temperature is None else float(temperature)) if sampled else None,
            max_new_tokens=_most(config, width),
            settings=settings_of(config, kwargs),
            **of_columns(logprobs, sequences.shape[0], sequences.shape[1] - width),
        )


def of_columns(logprobs, rows, columns):
    """The field, where each column of the output was one draw of each row."""
    if logprobs is None or tuple(logprobs.shape) != (rows, columns):
        return {}
    return {"sampling_logprobs": logprobs}


def settings_of(config, kwargs):
    """What is not its default, of the configuration; and that processors and criteria of the script's own took part."""
    if config is None:
        return {}
    try:
        plain = vars(type(config)())
        defaults = dict(plain)
        defaults.update(config._get_default_generation_params())
    except Exception:  # noqa: BLE001 - another version's: everything is told
        plain = defaults = {}
    settings = {}
    for name, value in vars(config).items():
        if name.startswith("_") or name in NAMED or not _is_plain(value):
            continue
        if value is None or (value is False and name.startswith("output_")) or (name in defaults and value in (defaults[name], plain.get(name))):
            continue
        settings[name] = value
    for name in ("logits_processor", "stopping_criteria", "prefix_allowed_tokens_fn", "assistant_model"):
        value = kwargs.get(name)
        if value is not None:
            parts = value if isinstance(value, (list, tuple)) else [value]
            settings[name] = [type(part).__name__ for part in parts]
    return settings


def _used(config, which):
    """As generate() resolved it (a tensor), else as it was set."""
    resolved = getattr(config, "_%s_token_tensor" % which, None)
    return resolved if resolved is not None else getattr(config, "%s_token_id" % which, None)


def _ids(value):
    if value is None:
        return []
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [int(item) for item in (value if isinstance(value, (list, tuple)) else [value])]


def _most(config, width):
    most = getattr(config, "max_new_tokens", None)
    if most is not None:
        return int(most)
    longest = getattr(config, "max_length", None)
    return None if longest is None else max(0, int(longest) - width)


def _is_ids(torch, value):
    return isinstance(value, torch.Tensor) and value.dim() == 2 and not value.is_floating_point()


def _is_plain(value):
    if isinstance(value, (list, tuple)):
        return all(isinstance(item, PLAIN) for item in value)
    return isinstance(value, PLAIN)

"""What the harness sends to each op: argument names and kinds, as in src/protocol/message.ts (a test compares
the two). `?` marks an argument that may be absent. The answers' fields are checked by the harness."""

_BLOCK = {
    "prompt_ids": "int_rows",
    "completion_ids": "int_rows",
    "sequences": "int_matrix",
    "attention_mask": "int_matrix",
    "prompt_width": "int",
    "pad_token_id": "int",
    "eos_token_ids": "ints",
}
_CHAT = {
    "route": "text",
    "messages": "messages",
    "add_generation_prompt": "flag",
    "chat_template": "text?",
}

ARGS = {
    "render": _CHAT,
    "tokenize": _CHAT,
    "collate": {"input_ids": "int_rows", "labels": "int_rows", "pad_token_id": "int"},
    "extract": {
        "padding_side": "text",
        "prompt_ids": "int_rows",
        "input_ids": "int_matrix",
        "attention_mask": "int_matrix",
        "sequences": "int_matrix",
        "sampled_ids": "int_matrix",
        "pad_token_id": "int",
        "eos_token_ids": "ints",
    },
    "mask": _BLOCK,
    "rollout": {"conversations": "conversations", "sampled_ids": "int_rows"},
    "logprobs": {
        "input_ids": "int_matrix",
        "attention_mask": "int_matrix",
        "logits": "float_cube",
        "prompt_width": "int",
        "temperature": "float",
    },
    "score": {"prompt_ids": "int_rows", "completion_ids": "int_rows"},
    "kl": {
        "logprobs": "float_track",
        "old_logprobs": "float_track",
        "ref_logprobs": "float_track",
        "completion_mask": "int_track",
        "prompt_width": "int",
        "kl_estimator": "text?",
    },
    "advantages": {"rewards": "floats", "group_ids": "ints"},
    "loss": {
        "logprobs": "float_track",
        "old_logprobs": "float_track",
        "ref_logprobs": "float_track",
        "advantages": "floats",
        "completion_mask": "int_track",
        "prompt_width": "int",
        "micro_batches": "int_rows",
    },
    "sft_loss": {
        "input_ids": "int_matrix",
        "attention_mask": "int_matrix",
        "labels": "int_matrix",
        "logits": "float_cube",
        "micro_batches": "int_rows",
    },
    "penalties": {
        "input_ids": "int_matrix",
        "attention_mask": "int_matrix",
        "prompt_width": "int",
        "prompt_ids": "int_rows",
        "completion_ids": "int_rows",
        "logits": "float_matrix",
        "presence_penalty": "float",
        "frequency_penalty": "float",
        "repetition_penalty": "float",
    },
    "contract": {"order": "texts", "segments": "segments", "enabled": "texts"},
}

# Kinds that become arrays when the adapter asks for arrays, and whether they hold integers. Ragged rows do not:
# an argument should not change its type from one case to the next because its rows happened to be equal.
ARRAY_KINDS = {
    "ints": True,
    "int_matrix": True,
    "int_track": True,
    "floats": False,
    "float_matrix": False,
    "float_cube": False,
    "float_track": False,
}

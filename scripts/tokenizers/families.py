"""What makes each small tokenizer one of its family: special tokens in order (with `special`), normaliser,
pre-tokeniser, post-processor, decoder, and the tokenizer_config beside it. `first` tokens take the lowest ids,
`last` ones follow the pieces. A family with a `pattern` is byte-level; the others fall back to byte tokens.
"""

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
# Llama 3 groups digits by three, Qwen takes them one at a time; the rest is the same.
THREE_DIGITS = rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{REST}"
ONE_DIGIT = rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{REST}"
# Words break where lower case meets upper case, as in the newer byte-level vocabularies.
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
CASED = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]*[{LOWER}]+{CONTRACTIONS}?"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]+[{LOWER}]*{CONTRACTIONS}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# DeepSeek cuts digits, then CJK runs, then the rest, in three steps.
DIGITS_FIRST = [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", rf"[^\r\n\p{{L}}\p{{P}}\p{{S}}]?[\p{{L}}\p{{M}}]+| ?[\p{{P}}\p{{S}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"]


def split(*patterns: str) -> dict:
    steps = [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        for pattern in patterns
    ]
    return {"type": "Sequence", "pretokenizers": [*steps, BYTE_LEVEL]}


def begin_with(token: str):
    """A post-processor that puts `token` before every text."""

    def template(ids: dict) -> dict:
        bos = {"SpecialToken": {"id": token, "type_id": 0}}
        first, second = ({"Sequence": {"id": name, "type_id": index}} for index, name in enumerate("AB"))
        return {
            "type": "TemplateProcessing",
            "single": [bos, first],
            "pair": [bos, first, {"SpecialToken": {"id": token, "type_id": 1}}, second],
            "special_tokens": {token: {"id": token, "ids": [ids[token]], "tokens": [token]}},
        }

    return template


def byte_level(*patterns: str, normalizer=None, begin: str | None = None, **rest) -> dict:
    def post_processor(ids: dict) -> dict:
        if begin is None:
            return BYTE_LEVEL
        return {"type": "Sequence", "processors": [BYTE_LEVEL, begin_with(begin)(ids)]}

    return {
        "pattern": patterns,
        "first": [],
        "last": [],
        "normalizer": normalizer,
        "pre_tokenizer": split(*patterns),
        "post_processor": post_processor,
        "decoder": BYTE_LEVEL,
        **rest,
    }


def config(**values) -> dict:
    return {
        "clean_up_tokenization_spaces": False,
        "model_max_length": 4096,
        "tokenizer_class": "PreTrainedTokenizerFast",
        **values,
    }


UNDERLINE_FOR_SPACE = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
SPACE_FOR_UNDERLINE = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
FALLBACK = [SPACE_FOR_UNDERLINE, {"type": "ByteFallback"}, {"type": "Fuse"}]


def specials(*names: str) -> list:
    return [(name, True) for name in names]


def ordinary(*names: str) -> list:
    return [(name, False) for name in names]


FAMILIES = {
    "llama3": byte_level(
        THREE_DIGITS,
        begin="<|begin_of_text|>",
        ignore_merges=True,
        last=specials(
            "<|begin_of_text|>",
            "<|end_of_text|>",
            "<|reserved_special_token_0|>",
            "<|finetune_right_pad_id|>",
            "<|start_header_id|>",
            "<|end_header_id|>",
            "<|eom_id|>",
            "<|eot_id|>",
            "<|python_tag|>",
        ),
        config=config(
            bos_token="<|begin_of_text|>", eos_token="<|eot_id|>", pad_token="<|finetune_right_pad_id|>",
            # True in the released configuration: a decoder that obeys it loses spaces before punctuation.
            clean_up_tokenization_spaces=True,
        ),
    ),
    "qwen": byte_level(
        ONE_DIGIT,
        normalizer={"type": "NFC"},
        last=[
            *specials("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
            *ordinary("<tool_call>", "</tool_call>", "<think>", "</think>"),
        ],
        config=config(bos_token=None, eos_token="<|im_end|>", pad_token="<|endoftext|>"),
    ),
    "gemma": {
        "first": [
            *specials("<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<start_of_turn>", "<end_of_turn>"),
            # Runs of newlines are tokens of their own, matched longest first before anything else.
            *ordinary("\n", "\n\n", "\n\n\n", "\n\n\n\n"),
        ],
        "last": [],
        "normalizer": UNDERLINE_FOR_SPACE,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"String": " "},
            "behavior": "MergedWithPrevious",
            "invert": False,
        },
        "post_processor": begin_with("<bos>"),
        "decoder": {"type": "Sequence", "decoders": FALLBACK},
        "config": config(
            bos_token="<bos>", eos_token="<eos>", pad_token="<pad>", unk_token="<unk>", padding_side="left"
        ),
    },
    "mistral": {
        "first": specials(
            "<unk>",
            "<s>",
            "</s>",
            "[INST]",
            "[/INST]",
            "[TOOL_CALLS]",
            "[AVAILABLE_TOOLS]",
            "[/AVAILABLE_TOOLS]",
            "[TOOL_RESULTS]",
            "[/TOOL_RESULTS]",
        ),
        "last": [],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "Prepend", "prepend": "\u2581"}, UNDERLINE_FOR_SPACE],
        },
        "pre_tokenizer": None,
        "post_processor": begin_with("<s>"),
        "decoder": {
            "type": "Sequence",
            "decoders": [*FALLBACK, {"type": "Strip", "content": " ", "start": 1, "stop": 0}],
        },
        # As released: no padding token at all.
        "config": config(bos_token="<s>", eos_token="</s>", unk_token="<unk>"),
    },
    "deepseek": byte_level(
        *DIGITS_FIRST,
        first=specials("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>"),
        # Control tokens that are not marked special: skipping special tokens does not skip them.
        last=ordinary("<｜User｜>", "<｜Assistant｜>", "<think>", "</think>"),
        config=config(
            bos_token="<｜begin▁of▁sentence｜>",
            eos_token="<｜end▁of▁sentence｜>",
            pad_token="<｜end▁of▁sentence｜>",
            add_bos_token=True,
        ),
    ),
    "phi": byte_level(
        CASED,
        last=specials("<|endoftext|>", "<|assistant|>", "<|system|>", "<|end|>", "<|user|>"),
        config=config(bos_token="<|endoftext|>", eos_token="<|endoftext|>", pad_token="<|endoftext|>"),
    ),
}

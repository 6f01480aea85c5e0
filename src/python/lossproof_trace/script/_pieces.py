"""What tiktoken and sentencepiece know of their vocabularies, as tokenizer.json has it."""

import base64
import re
import struct

# Of the protocol buffer: ModelProto, SentencePiece, TrainerSpec, NormalizerSpec.
PIECES, TRAINER, NORMALIZER = 1, 2, 3
UNIGRAM, BPE = 1, 2
NORMAL, UNKNOWN, CONTROL, USERS = 1, 2, 3, 4

# The end of a pattern that has its quantifier already: one more plus makes it possessive.
QUANTIFIED = re.compile(r"(?<![\\(])[?*+]$|\{\d+(?:,\d*)?\}$")

SPACE = "\u2581"


def of_ranks(ranks, pattern, specials):
    letters = byte_letters()

    def spelled(token):
        return "".join(letters[byte] for byte in token)

    merges = []
    for token, rank in ranks.items():
        halves = [(token[:at], token[at:]) for at in range(1, len(token))]
        halves = [(left, right) for left, right in halves if left in ranks and right in ranks]
        halves.sort(key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
        merges += [(rank, spelled(left), spelled(right)) for left, right in halves]
    merges.sort(key=lambda merge: merge[0])
    split = {"type": "Split", "pattern": {"Regex": greedy(pattern)}, "behavior": "Isolated", "invert": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return whole(
        {
            "type": "BPE",
            "unk_token": None,
            "ignore_merges": True,
            "vocab": {spelled(token): rank for token, rank in ranks.items()},
            "merges": [[left, right] for _, left, right in merges],
        },
        [(text, id) for text, id in specials.items()],
        pre_tokenizer={"type": "Sequence", "pretokenizers": [split, level]},
        decoder=level,
    )


def of_model(proto):
    fields = list(messages(proto))
    pieces = []
    for number, value in fields:
        if number == PIECES:
            own = dict(messages(value))
            score = struct.unpack("<f", own[2])[0] if 2 in own else 0.0
            pieces.append((own.get(1, b"").decode("utf-8"), score, own.get(3, NORMAL)))
    trainer = dict(messages(next((value for number, value in fields if number == TRAINER), b"")))
    normalizer = dict(messages(next((value for number, value in fields if number == NORMALIZER), b"")))
    unknown = next((at for at, piece in enumerate(pieces) if piece[2] == UNKNOWN), None)
    special = [(text, at) for at, (text, _, kind) in enumerate(pieces) if kind in (CONTROL, UNKNOWN, USERS)]
    plain = {text for text, _, kind in pieces if kind == USERS}
    steps = []
    if normalizer.get(2):
        steps.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(normalizer[2]).decode("ascii")})
    if normalizer.get(4, 1):
        steps.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    # Not a normalizer, which would put one behind every special token, too.
    scheme = "first" if normalizer.get(3, 1) else "never"
    spaces = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": False}
    if trainer.get(3, UNIGRAM) == BPE:
        model = {
            "type": "BPE",
            "unk_token": None if unknown is None else pieces[unknown][0],
            "fuse_unk": True,
            "byte_fallback": bool(trainer.get(35, 0)),
            "vocab": {text: at for at, (text, _, _) in enumerate(pieces)},
            "merges": merges_of(pieces),
        }
    else:
        model = {
            "type": "Unigram",
            "unk_id": unknown,
            "byte_fallback": bool(trainer.get(35, 0)),
            "vocab": [[text, score] for text, score, _ in pieces],
        }
    decoders = [
        {"type": "Replace", "pattern": {"String": SPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if normalizer.get(3, 1):
        decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return whole(
        model,
        special,
        plain,
        normalizer={"type": "Sequence", "normalizers": steps} if steps else None,
        pre_tokenizer=spaces,
        decoder={"type": "Sequence", "decoders": decoders},
    )


def merges_of(pieces):
    at = {text: index for index, (text, _, _) in enumerate(pieces)}
    out = []
    for text, score, kind in pieces:
        if kind != NORMAL:
            continue
        halves = [(text[:cut], text[cut:]) for cut in range(1, len(text))]
        halves = [pair for pair in halves if pair[0] in at and pair[1] in at]
        halves.sort(key=lambda pair: (at[pair[0]], at[pair[1]]))
        out += [(score, left, right) for left, right in halves]
    out.sort(key=lambda merge: -merge[0])
    return [[left, right] for _, left, right in out]


def whole(model, specials, plain=(), **parts):
    exact = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [
        {"id": id, "content": text, **exact, "special": text not in plain}
        for text, id in sorted(specials, key=lambda pair: pair[1])
    ]
    shell = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added}
    return {**shell, **dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder")), **parts, "model": model}


def byte_letters():
    """The letter that GPT-2's vocabularies write for each byte."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    out = {byte: chr(byte) for byte in plain}
    for byte in range(256):
        if byte not in out:
            out[byte] = chr(256 + len(out) - len(plain))
    return out


def greedy(pattern):
    """Without possessive quantifiers and atomic groups, which not every engine has, and which these patterns do without."""
    out, inside, at = "", False, 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "\\":
            out, at = out + pattern[at : at + 2], at + 2
            continue
        if letter in "[]":
            inside = letter == "["
        elif letter == "+" and not inside and QUANTIFIED.search(out):
            at += 1
            continue
        out, at = out + letter, at + 1
    return out.replace("(?>", "(?:")


def messages(data):
    """(field's number, value) of a protocol buffer: whole numbers, and the bytes of everything else."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = bytes(data[at : at + size]), at + size
        else:
            size = 8 if kind == 1 else 4
            value, at = bytes(data[at : at + size]), at + size
        yield key >> 3, value


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, at, shift = value | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return value, at

"""Four ways of writing a conversation down, with the ids that belong to them, and the labels of any of them.

llama3 and gemma begin with BOS, qwen and bytes do not; qwen puts a system message of its own in front; bytes has no
tokenizer file at all, and its stop token has the id 0."""

from dataclasses import dataclass

from lossproof.examples.text import chat
from lossproof.examples.text.bpe import Tokenizer

from .bytefallback import FallbackTokenizer

IGNORED = chat.IGNORED


@dataclass(frozen=True)
class Family:
    encode: object  # text -> ids; nothing is prepended
    # (the conversation's turns as [(header, body, whether an answer)], what stands before them)
    turns: object
    answer_header: str
    stop: int  # ends a turn
    stops: tuple
    pad: int  # of its own
    vocab_size: int
    bos: object = None
    folder: object = None

    def text(self, messages, add_generation_prompt):
        start, turns = self.turns(messages)
        text = start + "".join(header + body for header, body, _ in turns)
        return text + self.answer_header if add_generation_prompt else text

    def ids(self, messages, add_generation_prompt):
        return self.encode(self.text(messages, add_generation_prompt))

    def labels(self, messages, add_generation_prompt, target):
        """Labels beside `ids`: "all", the answers ("assistant") or the last one, each through its stop token."""
        ids = self.ids(messages, add_generation_prompt)
        if target == "all":
            return ids
        labels = [IGNORED] * len(ids)
        text, turns = self.turns(messages)
        answers = [at for at, (_, _, answer) in enumerate(turns) if answer]
        for at, (header, body, _) in enumerate(turns):
            if at in (answers if target == "assistant" else answers[-1:]):
                begin = _shared(self.encode(text + header), ids)
                end = ids.index(self.stop, begin) + 1
                labels[begin:end] = ids[begin:end]
            text += header + body
        return labels

    def tokens(self, pad):
        """hello's `tokens`; pad is "own" or "stop"."""
        named = {
            "vocab_size": self.vocab_size,
            "pad_token_id": self.pad if pad == "own" else self.stop,
            "eos_token_ids": list(self.stops),
        }
        return named if self.bos is None else dict(named, bos_token_id=self.bos)


def _shared(part, whole):
    """Length of the common beginning: a tokenizer may merge across the end of `part`."""
    for at, (a, b) in enumerate(zip(part, whole)):
        if a != b:
            return at
    return min(len(part), len(whole))


def _llama3():
    def turns(messages):
        return chat.BOS, [
            (chat.header(m["role"]), chat.body(m), m["role"] == "assistant") for m in messages
        ]

    return Family(
        encode=chat.tokenizer.encode,
        turns=turns,
        answer_header=chat.header("assistant"),
        stop=chat.STOP_ID,
        stops=tuple(chat.EOS_IDS),
        pad=chat.PAD_ID,
        vocab_size=chat.tokenizer.vocab_size,
        bos=chat.BOS_ID,
        folder=chat.FOLDER,
    )


_FAMILIES = chat.FOLDER.parent


def _qwen():
    """No BOS; the pad token is among the stop tokens, and is not the one that ends a turn."""
    tokenizer = Tokenizer(_FAMILIES / "qwen" / "tokenizer.json")
    stop, end = "<|im_end|>\n", tokenizer.added["<|endoftext|>"]
    system = {"role": "system", "content": "You are a helpful assistant."}

    def header(role):
        return "<|im_start|>" + role + "\n"

    def turns(messages):
        if messages[0]["role"] != "system":
            messages = [system, *messages]
        return "", [(header(m["role"]), m["content"] + stop, m["role"] == "assistant") for m in messages]

    stop_id = tokenizer.added["<|im_end|>"]
    return Family(
        encode=tokenizer.encode,
        turns=turns,
        answer_header=header("assistant"),
        stop=stop_id,
        stops=(stop_id, end),
        pad=end,
        vocab_size=tokenizer.vocab_size,
        folder=_FAMILIES / "qwen",
    )


def _gemma():
    """The system text stands in the first user turn, and the assistant is called model."""
    tokenizer = FallbackTokenizer(_FAMILIES / "gemma" / "tokenizer.json")

    def header(role):
        return "<start_of_turn>" + {"assistant": "model"}.get(role, role) + "\n"

    def turns(messages):
        preamble = ""
        if messages[0]["role"] == "system":
            preamble, messages = messages[0]["content"].strip() + "\n\n", messages[1:]
        written = []
        for at, message in enumerate(messages):
            body = (preamble if at == 0 else "") + message["content"].strip() + "<end_of_turn>\n"
            written.append((header(message["role"]), body, message["role"] == "assistant"))
        return "<bos>", written

    added = tokenizer.added
    return Family(
        encode=tokenizer.encode,
        turns=turns,
        answer_header=header("assistant"),
        stop=added["<end_of_turn>"],
        stops=(added["<eos>"], added["<end_of_turn>"]),
        pad=added["<pad>"],
        vocab_size=tokenizer.vocab_size,
        bos=added["<bos>"],
        folder=_FAMILIES / "gemma",
    )


# Ids of bytes: 0 stops and pads, then a header for each role, then the bytes of UTF-8.
_BYTE_ROLES = {"system": "\x01", "user": "\x02", "assistant": "\x03", "tool": "\x02"}
_BYTE_STOP, _FIRST_BYTE = "\x00", 4


def _bytes():
    def encode(text):
        ids = []
        for char in text:
            ids += [ord(char)] if char < "\x04" else [_FIRST_BYTE + b for b in char.encode("utf-8", "replace")]
        return ids

    def turns(messages):
        return "", [
            (
                _BYTE_ROLES[m["role"]],
                # No user can write a header.
                "".join(char for char in m["content"] if char > "\x03") + _BYTE_STOP,
                m["role"] == "assistant",
            )
            for m in messages
        ]

    return Family(
        encode=encode,
        turns=turns,
        answer_header=_BYTE_ROLES["assistant"],
        stop=0,
        stops=(0,),
        pad=0,
        vocab_size=_FIRST_BYTE + 256,
    )


MAKERS = {"llama3": _llama3, "qwen": _qwen, "gemma": _gemma, "bytes": _bytes}

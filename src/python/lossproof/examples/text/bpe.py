"""Byte-level BPE over a tokenizer.json, as the Rust library does it: added tokens, regex pieces, merges.

Only what the families of this repository need: no normaliser but NFC, one Split pattern, no post-processor."""

import json
import re
import unicodedata
from functools import lru_cache

# Python's `re` has no \p{..}. Non-ASCII characters are replaced by one representative of their class before
# matching (lengths stay equal), and the pattern's classes by explicit sets of what can then occur. The long s
# stays itself: it equals "s" when case is ignored.
_LETTER, _NUMBER, _SPACE, _OTHER, _LONG_S = "\u00e9", "\u00b2", "\u0085", "\u00a1", "\u017f"
_CLASSES = {
    r"\p{L}": "A-Za-z" + _LETTER + _LONG_S,
    r"\p{N}": "0-9" + _NUMBER,
    # Unicode White_Space below 128; Python's own \s would add the four separators from 0x1C on.
    r"\s": "\\t\\n\\x0b\\x0c\\r " + _SPACE,
}
_SURROGATES = re.compile("[\ud800-\udfff]")
# Words repeat; a cap keeps a long run from remembering every random word it saw.
_CACHED_WORDS = 10_000
_CACHED_TEXTS = 1_000


class Tokenizer:
    """encode(text) -> ids, decode(ids) -> text. Added tokens in the text become their ids; nothing is prepended."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        normalizer = data.get("normalizer")
        if normalizer not in (None, {"type": "NFC"}):
            raise ValueError("%s: the normalizer %r is not supported" % (path, normalizer))
        self._composes = normalizer is not None
        model = data["model"]
        self.vocab = model["vocab"]
        self.added = {entry["content"]: entry["id"] for entry in data["added_tokens"]}
        self.vocab_size = max([*self.vocab.values(), *self.added.values()]) + 1
        pairs = [m.split(" ") if isinstance(m, str) else m for m in model["merges"]]
        self._ranks = {tuple(pair): rank for rank, pair in enumerate(pairs)}
        self._whole_words = model.get("ignore_merges", False)
        self._pieces = re.compile(_translated(_pattern_of(data["pre_tokenizer"])))
        longest_first = sorted(self.added, key=len, reverse=True)
        self._split = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")") if self.added else None
        self._symbols = _byte_symbols()
        self._bytes = {symbol: byte for byte, symbol in enumerate(self._symbols)}
        self._spelling = {id: token for token, id in self.vocab.items()}
        self._specials = {id: token for token, id in self.added.items()}
        self._cache = {}
        # Prompts come again and again, in rows and in batches.
        self._encoded = lru_cache(maxsize=_CACHED_TEXTS)(self._encode)

    def encode(self, text):
        return list(self._encoded(text))

    def _encode(self, text):
        text = _SURROGATES.sub("\ufffd", text)
        ids = []
        for part in self._split.split(text) if self._split else [text]:
            if part in self.added:
                ids.append(self.added[part])
                continue
            if self._composes:
                part = unicodedata.normalize("NFC", part)
            start = 0
            for piece in self._pieces.finditer(_representatives(part)):
                # What the pattern leaves between two matches is a piece of its own.
                for begin, end in ((start, piece.start()), piece.span()):
                    if begin < end:
                        ids.extend(self._word(part[begin:end]))
                start = piece.end()
            if start < len(part):
                ids.extend(self._word(part[start:]))
        return ids

    def decode(self, ids):
        """Text with special tokens kept. Bytes that are not UTF-8 become U+FFFD."""
        out, pending = [], bytearray()
        for id in ids:
            if id in self._specials:
                out.append(pending.decode("utf-8", "replace") + self._specials[id])
                pending = bytearray()
            else:
                pending.extend(self._bytes[symbol] for symbol in self._spelling.get(id, ""))
        return "".join(out) + pending.decode("utf-8", "replace")

    def _word(self, word):
        found = self._cache.get(word)
        if found is None:
            if len(self._cache) >= _CACHED_WORDS:
                self._cache.clear()
            found = self._cache[word] = self._merged(word)
        return found

    def _merged(self, word):
        parts = [self._symbols[byte] for byte in word.encode("utf-8")]
        if self._whole_words and "".join(parts) in self.vocab:
            return [self.vocab["".join(parts)]]
        ranks = self._ranks
        while len(parts) > 1:
            rank, at = min((ranks.get(pair, len(ranks)), i) for i, pair in enumerate(zip(parts, parts[1:])))
            if rank == len(ranks):
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [self.vocab[part] for part in parts]


def _pattern_of(pre_tokenizer):
    """The one regular expression that cuts text into pieces."""
    steps = pre_tokenizer.get("pretokenizers", [pre_tokenizer])
    patterns = [step["pattern"]["Regex"] for step in steps if step["type"] == "Split"]
    if len(patterns) != 1:
        raise ValueError("expected one Split with a Regex, found %d" % len(patterns))
    return patterns[0]


def _translated(pattern):
    inside, out = False, []
    for token in re.findall(r"\\p\{\w+\}|\\.|.", pattern, re.S):
        if token == r"\S":
            token = "[^" + _CLASSES[r"\s"] + "]"
        elif token.startswith(r"\p") and token not in _CLASSES:
            raise ValueError("the class %s is not supported" % token)
        elif token in _CLASSES:
            token = _CLASSES[token] if inside else "[" + _CLASSES[token] + "]"
        elif token in "[]":
            inside = token == "["
        out.append(token)
    return "".join(out)


def _representatives(text):
    if text.isascii():
        return text
    return "".join(char if char < "\x80" or char == _LONG_S else _representative(char) for char in text)


def _representative(char):
    if char.isspace():
        return _SPACE
    category = unicodedata.category(char)[0]
    return _LETTER if category == "L" else _NUMBER if category == "N" else _OTHER


def _byte_symbols():
    """Byte -> printable character, the bijection that byte-level vocabularies are spelt in (GPT-2)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    symbols, spare = [], 0x100
    for byte in range(256):
        if byte in printable:
            symbols.append(chr(byte))
        else:
            symbols.append(chr(spare))
            spare += 1
    return symbols

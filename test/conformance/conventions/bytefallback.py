"""BPE over characters with bytes for what the vocabulary lacks (SentencePiece's way, as Gemma has it), from a
tokenizer.json: spaces become U+2581, added tokens are cut out first, nothing is prepended."""

import json
import re

_SPACE = "\u2581"
_SURROGATES = re.compile("[\ud800-\udfff]")


class FallbackTokenizer:
    """encode(text) -> ids."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        model = data["model"]
        if not model.get("byte_fallback"):
            raise ValueError("%s: no byte fallback" % path)
        self.vocab = model["vocab"]
        self.added = {entry["content"]: entry["id"] for entry in data["added_tokens"]}
        self.vocab_size = max([*self.vocab.values(), *self.added.values()]) + 1
        pairs = [m.split(" ") if isinstance(m, str) else m for m in model["merges"]]
        self._ranks = {tuple(pair): rank for rank, pair in enumerate(pairs)}
        # Characters that stand beside each other in some token; nothing ever merges between two others.
        self._beside = {pair for token in self.vocab for pair in zip(token, token[1:])}
        longest_first = sorted(self.added, key=len, reverse=True)
        self._split = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")
        self._cache = {}

    def encode(self, text):
        ids = []
        for part in self._split.split(_SURROGATES.sub("\ufffd", text)):
            if part in self.added:
                ids.append(self.added[part])
            else:
                for word in self._words(part.replace(" ", _SPACE)):
                    ids.extend(self._word(word))
        return ids

    def _words(self, text):
        """Pieces that can be encoded alone."""
        start = 0
        for at in range(1, len(text) + 1):
            if at == len(text) or (text[at - 1], text[at]) not in self._beside:
                yield text[start:at]
                start = at

    def _word(self, word):
        found = self._cache.get(word)
        if found is None:
            parts = list(word)
            while len(parts) > 1:
                none = len(self._ranks)
                rank, at = min((self._ranks.get(pair, none), i) for i, pair in enumerate(zip(parts, parts[1:])))
                if rank == none:
                    break
                parts[at : at + 2] = [parts[at] + parts[at + 1]]
            found = self._cache[word] = [id for part in parts for id in self._known(part)]
        return found

    def _known(self, part):
        if part in self.vocab:
            return [self.vocab[part]]
        return [self.vocab["<0x%02X>" % byte] for byte in part.encode("utf-8")]

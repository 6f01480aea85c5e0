"""Trains the small tokenizers in src/tokenizers/families. Run once and commit what it writes:

    python scripts/tokenizers/train.py        (needs: pip install "tokenizers>=0.22")

Each is a real BPE over scripts/tokenizers/corpus.txt. What makes it a family is in scripts/tokenizers/families.py;
the chat templates beside the output are written by hand. No vocabulary, merge list or template is copied from a
released model. The output depends on these files only, not on the machine.
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.dont_write_bytecode = True

from families import FAMILIES  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers, trainers  # noqa: E402

OUTPUT = HERE.parents[1] / "src" / "tokenizers" / "families"
# Enough for whole English words and pieces of the other scripts, and small enough to read in a diff.
MERGES = 600


def main() -> None:
    corpus = (HERE / "corpus.txt").read_text(encoding="utf-8")
    for name, family in FAMILIES.items():
        folder = OUTPUT / name
        folder.mkdir(parents=True, exist_ok=True)
        tokenizer, config = build(family, corpus)
        # One line: the readable form is four times as large.
        (folder / "tokenizer.json").write_text(
            json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
        )
        (folder / "tokenizer_config.json").write_text(
            json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        Tokenizer.from_file(str(folder / "tokenizer.json"))  # the real library reads what we wrote
        size = sum(file.stat().st_size for file in folder.iterdir())
        tokens = len({**tokenizer["model"]["vocab"], **{t["content"]: 0 for t in tokenizer["added_tokens"]}})
        print(f"{name}: {tokens} tokens, {size / 1000:.1f} kB")


def build(family: dict, corpus: str) -> tuple[dict, dict]:
    """tokenizer.json and tokenizer_config.json of one family."""
    pieces, merges = byte_level_merges(family, corpus) if "pattern" in family else sentence_piece_merges(corpus)
    first, last = family["first"], family["last"]
    vocab = {token: index for index, token in enumerate([*(token for token, _ in first), *pieces])}
    ids = dict(vocab)
    for token, _ in last:
        ids.setdefault(token, len(ids))
    added = [
        {
            "id": ids[token],
            "content": token,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": special,
        }
        for token, special in [*first, *last]
    ]
    sentence_piece = "pattern" not in family
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<unk>" if sentence_piece else None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": sentence_piece,
        "byte_fallback": sentence_piece,
        "ignore_merges": family.get("ignore_merges", False),
        "vocab": vocab,
        "merges": [list(merge) for merge in merges],
    }
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": sorted(added, key=lambda token: token["id"]),
        "normalizer": family["normalizer"],
        "pre_tokenizer": family["pre_tokenizer"],
        "post_processor": family["post_processor"](ids),
        "decoder": family["decoder"],
        "model": model,
    }
    config = {
        **family["config"],
        "added_tokens_decoder": {
            str(token["id"]): {key: value for key, value in token.items() if key != "id"}
            for token in tokenizer["added_tokens"]
        },
    }
    return tokenizer, config


def byte_level_merges(family: dict, corpus: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Pieces in id order (256 bytes, then one a merge) and merges of a byte-level BPE."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    blank = json.loads(Tokenizer(models.BPE()).to_str())
    blank["normalizer"], blank["pre_tokenizer"] = family["normalizer"], family["pre_tokenizer"]
    return _train(Tokenizer.from_str(json.dumps(blank)), corpus, alphabet, len(alphabet) + MERGES)


def sentence_piece_merges(corpus: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Pieces (256 byte tokens, characters of the corpus, merges) and merges of a BPE with byte fallback."""
    # Characters seen once stay out of the vocabulary, so that byte fallback really happens.
    seen = {character for character in corpus if corpus.count(character) > 1 and character not in " \n\t"}
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    # Lines, not the whole text: a newline must not become a part of a piece.
    characters = sorted(seen | {"\u2581"})
    lines = ["".join(c if c in seen or c == " " else " " for c in line) for line in corpus.split("\n")]
    pieces, merges = _train(tokenizer, lines, characters, len(characters) + MERGES)
    return [*(f"<0x{byte:02X}>" for byte in range(256)), *pieces], merges


def _train(tokenizer, corpus, alphabet, size):
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=alphabet, limit_alphabet=len(alphabet), min_frequency=2, show_progress=False
    )
    tokenizer.train_from_iterator([corpus] if isinstance(corpus, str) else corpus, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    merges = [tuple(merge) if isinstance(merge, list) else tuple(merge.split(" ")) for merge in model["merges"]]
    return sorted(model["vocab"], key=model["vocab"].get), merges


if __name__ == "__main__":
    main()

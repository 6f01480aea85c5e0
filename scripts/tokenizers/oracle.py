"""What Python makes of texts and conversations: one JSON request on stdin, one JSON answer on stdout.

The oracle of test/torch/tokenizers.test.ts. Encoding and decoding are the Rust library's own (`tokenizers`), on
tokenizer.json alone: AutoTokenizer changes some tokenizers by their class name. Templates are rendered as
transformers' apply_chat_template renders them.
"""

import json
import sys

from tokenizers import Tokenizer

def encode(request: dict) -> list:
    tokenizer = Tokenizer.from_file(request["file"])
    special = request["add_special_tokens"]
    return [tokenizer.encode(text, add_special_tokens=special).ids for text in request["texts"]]


def decode(request: dict) -> list:
    tokenizer = Tokenizer.from_file(request["file"])
    return [tokenizer.decode(row, skip_special_tokens=False) for row in request["rows"]]


def render(request: dict) -> list:
    # Imported here: it takes seconds, which encoding and decoding need not wait for.
    from transformers.utils import chat_template_utils

    return [render_one(chat_template_utils, case) for case in request["cases"]]


def render_one(library, case: dict) -> dict:
    try:
        # tools and documents are None where there are none; unset special tokens are not passed at all.
        text, spans = library._render_with_assistant_indices(
            library._compile_jinja_template(case["template"]),
            case["messages"],
            None,
            None,
            case["add_generation_prompt"],
            **case["tokens"],
        )
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}"}
    # Python counts characters, JavaScript UTF-16 units: the pieces themselves can be compared.
    return {"text": text, "pieces": [text[start:end] for start, end in spans]}


OPS = {"encode": encode, "decode": decode, "render": render}


def main() -> None:
    requests = json.load(sys.stdin)
    json.dump([OPS[request["op"]](request) for request in requests], sys.stdout)


if __name__ == "__main__":
    main()

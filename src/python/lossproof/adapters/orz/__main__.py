"""`python -m lossproof.adapters.orz`: Open-Reasoner-Zero's own functions, unmodified, of the clone that LOSSPROOF_CHECKOUT names.
LOSSPROOF_ROWS: packed, as it trains, or padded."""

from lossproof.adapters.orz._parts import orz
from lossproof.adapters.orz import advantages, losses, rollouts, scores, texts  # noqa: F401, their ops
from lossproof.adapters.orz._model import tokens
from lossproof.adapters.orz._settings import SEMANTICS
from lossproof.adapters.orz._template import folder

if __name__ == "__main__":
    orz.serve("orz", semantics=SEMANTICS, tokens=tokens, tokenizer=folder())

"""`python -m lossproof.adapters.priorzero`: PriorZero's own files, unmodified, of the clone that LOSSPROOF_CHECKOUT names."""

from lossproof.adapters.priorzero._parts import priorzero
from lossproof.adapters.priorzero import contract, pipeline, rows, supervised, windows  # noqa: F401, their ops
from lossproof.adapters.priorzero._model import FOLDER, RELEASED, tokens
from lossproof.adapters.priorzero._settings import SEMANTICS

if __name__ == "__main__":
    semantics = dict(SEMANTICS, cut_at=[RELEASED.prompt_max_len])
    priorzero.serve("priorzero", semantics=semantics, tokens=tokens, tokenizer=FOLDER)

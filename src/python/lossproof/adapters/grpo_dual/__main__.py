"""`python -m lossproof.adapters.grpo_dual`: grpo-dual's own trainer, unmodified, of the clone that LOSSPROOF_CHECKOUT names."""

from lossproof.adapters.grpo_dual._parts import dual
from lossproof.adapters.grpo_dual import objective, rollouts, sampling, texts  # noqa: F401, their ops
from lossproof.adapters.grpo_dual._model import FOLDER, tokens
from lossproof.adapters.grpo_dual._settings import SEMANTICS
from lossproof.adapters.grpo_dual.objective import KL_COEF, least_deviation
from lossproof.adapters.grpo_dual.texts import own_system

if __name__ == "__main__":
    found = {"kl_coef": KL_COEF, **own_system(), **least_deviation()}
    dual.serve("grpo-dual", semantics={**SEMANTICS, **found}, tokens=tokens, tokenizer=FOLDER)

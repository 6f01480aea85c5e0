"""`python -m lossproof.adapters.search_r1`: Search-R1's own agent loop, graders and PPO, of the clone that LOSSPROOF_CHECKOUT names."""

from lossproof.adapters.search_r1._parts import search
from lossproof.adapters.search_r1 import advantages, losses, rewards, rollouts, scores, texts, tools  # noqa: F401, their ops
from lossproof.adapters.search_r1._model import FOLDER, tokens
from lossproof.adapters.search_r1._settings import SEMANTICS

if __name__ == "__main__":
    search.serve(
        "search-r1",
        layout={"alignment": "token", "span": "completion"},
        semantics=SEMANTICS,
        tokens=tokens,
        tokenizer=FOLDER,
    )

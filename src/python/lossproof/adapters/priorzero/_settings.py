"""Which of PriorZero's two losses an op that has one is about, and its choices in the words of the protocol."""

from lossproof.adapters.common._settings import chosen

# sft: ranked actions of the search, as text; rft: REINFORCE with the reward of the environment.
ROUTES = {"sft": {}, "rft": {}}
ROUTE = chosen("LOSSPROOF_ROUTE", ROUTES)

SEMANTICS = {"stop_token_in_mask": True, "completions_always_stop": True, "sft_aggregation": "token-mean"}

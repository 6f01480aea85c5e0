"""Ready-made adapters for trainers that are published as libraries. The list only: importing it loads no trainer.

Each adapter is a module to run, `python -m lossproof.adapters.trl.grpo`, and drives the library's own unmodified
trainer. What they have in common lies in `common`, which they import and which imports none of them."""

_REQUIREMENTS = ["torch==2.13.0", "transformers==5.18.0", "trl==1.13.0", "requests"]

READY = {
    "trl-grpo": {
        "module": "lossproof.adapters.trl.grpo",
        "title": "TRL's GRPOTrainer on a tiny random model",
        "requirements": _REQUIREMENTS,
    },
    "trl-dpo": {
        "module": "lossproof.adapters.trl.dpo",
        "title": "TRL's DPOTrainer on a tiny random model",
        "requirements": _REQUIREMENTS,
    },
    "trl-sft": {
        "module": "lossproof.adapters.trl.sft",
        "title": "TRL's SFTTrainer on a tiny random model",
        "requirements": _REQUIREMENTS,
    },
    "trl-rloo": {
        "module": "lossproof.adapters.trl.rloo",
        "title": "TRL's RLOOTrainer on a tiny random model",
        "requirements": _REQUIREMENTS,
    },
    "trl-kto": {
        "module": "lossproof.adapters.trl.kto",
        "title": "TRL's KTOTrainer on a tiny random model",
        "requirements": _REQUIREMENTS,
    },
    "trl-reward": {
        "module": "lossproof.adapters.trl.reward",
        "title": "TRL's RewardTrainer on a tiny random model",
        "requirements": _REQUIREMENTS,
    },
    "verl": {
        "module": "lossproof.adapters.verl",
        "title": "verl's engine, core algorithms and SFT data set, without Ray",
        "requirements": ["torch==2.13.0", "transformers==5.18.0", "verl==0.9.1"],
    },
    "openrlhf": {
        "module": "lossproof.adapters.openrlhf",
        "title": "OpenRLHF's losses, experience maker and data sets, without Ray and DeepSpeed",
        "requirements": ["torch==2.13.0", "transformers==5.18.0", "openrlhf==0.11.2"],
    },
    "llama-factory": {
        "module": "lossproof.adapters.llama_factory",
        "title": "LLaMA-Factory's data sets, supervised fine-tuning, DPO and reward models, without PEFT",
        "requirements": [
            "torch==2.13.0",
            "transformers==4.57.6",
            "trl==0.24.0",
            "accelerate==1.11.0",
            "datasets==4.3.0",
            "llamafactory==0.9.5",
        ],
    },
    "priorzero": {
        "module": "lossproof.adapters.priorzero",
        "title": "PriorZero in a clone of LightZero, without its world model",
        "requirements": ["torch==2.13.0", "transformers==5.18.0"],
    },
    "orz": {
        "module": "lossproof.adapters.orz",
        "title": "Open-Reasoner-Zero in a clone, without Ray, vLLM and DeepSpeed",
        "requirements": ["torch==2.13.0", "transformers==5.18.0"],
    },
    "search-r1": {
        "module": "lossproof.adapters.search_r1",
        "title": "Search-R1's agent loop, graders and PPO in a clone, without Ray, vLLM and a search engine",
        "requirements": ["torch==2.13.0", "transformers==5.18.0", "tensordict==0.10.0", "pandas"],
    },
    "grpo-dual": {
        "module": "lossproof.adapters.grpo_dual",
        "title": "The GRPO trainer of grpo-dual in a clone, without its judges",
        "requirements": ["torch==2.13.0", "transformers==5.18.0"],
    },
}

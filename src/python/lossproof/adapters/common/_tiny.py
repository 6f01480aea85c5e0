"""A real tokenizer from a folder and a tiny random model to go with it, both offline, on the CPU.

The model is random with a large spread (initializer_range 0.6): at the usual 0.02 its log-probabilities hardly
depend on what it attends to, and a mask that lets padding in goes unnoticed in most cases."""

import os
import sys
from pathlib import Path

# Before transformers is imported: it reads these once.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

_PACKAGE = Path(__file__).resolve().parents[2]
# src/python/lossproof and src/tokenizers lie side by side in the repository and in npm's package; pip's has both in its engine.
_WHEEL = _PACKAGE.parent / "lossproof_door" / "engine" / "src"
_DEFAULT_TOKENIZER = (_WHEEL if _WHEEL.is_dir() else _PACKAGE.parents[1]) / "tokenizers" / "families" / "qwen"

SPREAD = 0.6
# Longer than any row the harness makes; GPT-2 learns a vector a position, so it costs memory there.
POSITIONS = 512
SEED = 0


def _real(library):
    """Nothing, where this is the library of that name. A file of the user's that is called so comes before it."""
    if not hasattr(library, "__version__"):
        stop("`import %s` finds %s, which is not that library; rename it" % (library.__name__, _place_of(library)))


def _place_of(module):
    return getattr(module, "__file__", None) or ", ".join(getattr(module, "__path__", ()))


def stop(why):
    sys.stderr.write("lossproof: %s\n" % why)
    raise SystemExit(2)


def missing(name, extra, tested):
    """Ends the program: what is not installed, and what to type."""
    # The next step first: the harness shows the beginning of a line.
    sys.stderr.write(
        "lossproof: %s is not installed for %s\n"
        "lossproof: name a Python that has it with --python, or install for this one:\n"
        "lossproof: pip install %s, or what it is tested with: %s\n"
        "lossproof: (in a clone of lossproof: npm run setup:trainers)\n" % (name, sys.executable, extra, tested)
    )
    raise SystemExit(2)


_TESTED = "torch==2.13.0 transformers==5.18.0 trl==1.13.0 requests"

try:
    import torch

    _real(torch)
    import transformers

    _real(transformers)
except ImportError as absent:
    missing(absent.name, "'lossproof[trl]'", _TESTED)

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
# Tensors of a few dozen numbers: handing them to threads takes longer than computing them.
torch.set_num_threads(1)


def __getattr__(name):
    """VERSION, of TRL: its adapters import it before anything of TRL itself, those of other trainers never."""
    if name != "VERSION":
        raise AttributeError("%s has no %s" % (__name__, name))
    try:
        import trl
    except ImportError as absent:
        missing(absent.name, "'lossproof[trl]'", _TESTED)
    _real(trl)
    return trl.__version__


def tokenizer_folder():
    """LOSSPROOF_TOKENIZER, or the bundled family. Exits with one sentence where it holds no tokenizer.json."""
    folder = Path(os.environ.get("LOSSPROOF_TOKENIZER") or _DEFAULT_TOKENIZER).resolve()
    if not (folder / "tokenizer.json").is_file():
        stop("there is no tokenizer.json in %s; set LOSSPROOF_TOKENIZER to a folder that has one" % folder)
    return folder


def load_tokenizer(folder):
    """The tokenizer with its chat template, as a user's script would load it."""
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    if tokenizer.chat_template is None:
        stop("the tokenizer in %s has no chat template, and TRL's trainers render conversations by it" % folder)
    if tokenizer.eos_token_id is None:
        stop("the tokenizer in %s names no eos_token in its tokenizer_config.json" % folder)
    return tokenizer


def with_pad(tokenizer):
    """The tokenizer with a pad token: its eos, where it has none, as most trainers choose."""
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def tiny_model(vocabulary):
    """A random causal model over `vocabulary` ids: rotary positions, or GPT-2's absolute ones by LOSSPROOF_MODEL=gpt2."""
    kind = os.environ.get("LOSSPROOF_MODEL") or "qwen2"
    if kind == "qwen2":
        config = transformers.Qwen2Config(
            vocab_size=vocabulary,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=POSITIONS,
            initializer_range=SPREAD,
        )
    elif kind == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=vocabulary,
            n_embd=32,
            n_layer=2,
            n_head=4,
            n_positions=POSITIONS,
            initializer_range=SPREAD,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
        )
    else:
        stop("LOSSPROOF_MODEL=%s: choose qwen2 or gpt2" % kind)
    transformers.set_seed(SEED)
    return transformers.AutoModelForCausalLM.from_config(config)


def tiny_scorer(tokenizer):
    """A random model with one score per row, of the kind that tiny_model is."""
    config = tiny_model(len(tokenizer)).config
    config.num_labels, config.pad_token_id = 1, tokenizer.pad_token_id
    transformers.set_seed(SEED)
    return transformers.AutoModelForSequenceClassification.from_config(config)


def named_stops(tokenizer):
    """Ids of the stop tokens that LOSSPROOF_STOPS names, separated by spaces; None where it is not set."""
    names = os.environ.get("LOSSPROOF_STOPS", "").split()
    for name in names:
        if name not in tokenizer.get_vocab():
            stop("LOSSPROOF_STOPS names %s, which is no token of this tokenizer" % name)
    return tokenizer.convert_tokens_to_ids(names) or None


def several_stops(tokenizer):
    """What LOSSPROOF_STOPS names; else the eos and a second one, as most released chat models have two: the first special
    token that is none of the tokenizer's own roles."""
    roles = {tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.bos_token_id, tokenizer.unk_token_id}
    special = [at for at, token in sorted(tokenizer.added_tokens_decoder.items()) if token.special and at not in roles]
    return named_stops(tokenizer) or [tokenizer.eos_token_id, *special[:1]]


def declared_tokens(tokenizer, stops=None):
    """`tokens` of hello: ids that the trainer is fixed to. Ask when the trainer is built: it may choose the pad token.

    stops: where they are not the tokenizer's eos alone."""
    tokens = {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_ids": stops or [tokenizer.eos_token_id],
    }
    if tokenizer.bos_token_id is not None:
        tokens["bos_token_id"] = tokenizer.bos_token_id
    return tokens

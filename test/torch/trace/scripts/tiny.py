"""What the scripts of this folder have in common: a data set's rows, a tokenizer, tiny random models. Nothing downloads."""

import json
import os
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

FAMILIES = Path(__file__).resolve().parents[4] / "src" / "tokenizers" / "families"
IGNORE = -100
PROBE = "(the content)"

# Other weights and another order of rows, for measurements over seeds.
SEED = int(os.environ.get("TINY_SEED", "0"))

# On the processor; on another device where on_device.py was asked for one.
ON_CPU = os.environ.get("LOSSPROOF_DEVICE", "cpu") == "cpu" or "ACCELERATE_USE_CPU" in os.environ

# Of every trainer: the same each time, and nothing written but what is asked for.
PLAIN = dict(
    lr_scheduler_type="constant",
    bf16=False,
    use_cpu=ON_CPU,
    seed=1 + SEED,
    report_to="none",
    save_strategy="no",
    disable_tqdm=True,
)

# ChatML with the marks that tell transformers what the assistant said.
GENERATION_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}"
    "{% if message['role'] == 'assistant' %}"
    "{% generation %}{{ message['content'] + '<|im_end|>' }}{% endgeneration %}{{ '\\n' }}"
    "{% else %}{{ message['content'] + '<|im_end|>\\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def rows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def family(name="qwen", **options):
    import transformers
    from tokenizers import processors

    tokenizer = transformers.AutoTokenizer.from_pretrained(str(FAMILIES / name), **options)
    if name == "qwen":  # With trimmed offsets transformers marks nothing of an answer that begins with a space.
        whole = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
        tokenizer.backend_tokenizer.post_processor = whole
    return tokenizer


def letters(padding_side="left", pad="<pad>"):
    """A tokenizer of single letters: a random model over so few of them stops now and then."""
    import transformers
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    specials = ["<pad>", "<bos>", "<eos>"]
    vocabulary = {token: at for at, token in enumerate([*specials, *"abcdefghijklmnopqrstuvwxyz", "Ġ"])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in specials])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=pad, bos_token="<bos>", eos_token="<eos>", padding_side=padding_side
    )


def rotary(vocabulary, seed=0, dtype=None, **more):
    import transformers

    config = transformers.LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.3,
        **more,
    )
    transformers.set_seed(seed + SEED)
    return transformers.LlamaForCausalLM(config)


def absolute(vocabulary, seed=0, dropout=0.0):
    import transformers

    config = transformers.GPT2Config(
        vocab_size=vocabulary,
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=256,
        initializer_range=0.3,
        resid_pdrop=dropout,
        embd_pdrop=dropout,
        attn_pdrop=dropout,
        bos_token_id=None,
        eos_token_id=None,
    )
    transformers.set_seed(seed + SEED)
    return transformers.GPT2LMHeadModel(config)


def chat_ids(tokenizer, messages, train_tools=False, stop=1, whole=False, loud_bos=False):
    """(ids, labels) of a conversation, turn by turn; the assistant's words and the token that ends them are labelled."""
    ids, labels = [], []
    for at, message in enumerate(messages):
        before = tokenizer.apply_chat_template(messages[:at], tokenize=False) if at else ""
        after = tokenizer.apply_chat_template(messages[: at + 1], tokenize=False)
        trained = message["role"] == "assistant" or (train_tools and message["role"] == "tool")
        # Where the content stands is seen with another one: its own words may stand in the header, or be trimmed.
        probe = tokenizer.apply_chat_template([*messages[:at], {**message, "content": PROBE}], tokenize=False)
        head = probe.index(PROBE, len(before))
        end = len(after) - (len(probe) - head - len(PROBE))
        for piece, label in ((after[len(before) : head], whole), (after[head:end], whole or trained)):
            tokens = tokenizer(piece, add_special_tokens=False)["input_ids"]
            ids, labels = ids + tokens, labels + (tokens if label else [IGNORE] * len(tokens))
        tokens = tokenizer(after[end:], add_special_tokens=False)["input_ids"]
        kept = len(tokens) if whole else stop if trained else 0
        ids, labels = ids + tokens, labels + tokens[:kept] + [IGNORE] * (len(tokens) - kept)
    if loud_bos:
        ids, labels = [tokenizer.bos_token_id, *ids], [IGNORE, *labels]
    return {"input_ids": ids, "labels": labels}


def padder(pad):
    """Of a loader whose rows are lists of ids: a batch is ids and mask, (B, T) each, padded at the right."""
    import torch

    def collate(examples):
        width = max(map(len, examples))
        ids = torch.full((len(examples), width), pad)
        mask = torch.zeros_like(ids)
        for at, example in enumerate(examples):
            ids[at, : len(example)], mask[at, : len(example)] = torch.tensor(example), 1
        return ids, mask

    return collate

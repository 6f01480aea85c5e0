"""Models of many families, on ids of chance: causal ones are read, others are said to be none. `--pads left` has a causal one count
padding as positions, which is wrong where it is told no positions; `--train-images` leaves placeholders in the labels."""

import argparse

import torch
import torch.nn.functional as F
import transformers
from torch import nn

VOCAB = 120
CAUSAL = {
    "opt": dict(hidden_size=32, ffn_dim=64, num_hidden_layers=2, num_attention_heads=4, word_embed_proj_dim=32),
    "biogpt": dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4),
    "xglm": dict(d_model=32, ffn_dim=64, num_layers=2, attention_heads=4),
    "phi": dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4),
    "gpt2": dict(n_embd=32, n_layer=2, n_head=4),
    "bloom": dict(hidden_size=32, n_layer=2, n_head=4),
    "mamba": dict(hidden_size=32, num_hidden_layers=2, state_size=8),
}
T5 = dict(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0)
BART = dict(d_model=32, encoder_layers=1, decoder_layers=2, encoder_ffn_dim=64, decoder_ffn_dim=64)
HEADS = dict(encoder_attention_heads=4, decoder_attention_heads=4, decoder_start_token_id=2)
BERT = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
parser = argparse.ArgumentParser()
parser.add_argument("--family", choices=[*CAUSAL, "own", "llava", "t5", "bart", "bert"], required=True)
parser.add_argument("--train-images", action="store_true")
parser.add_argument("--pads", choices=["right", "left"], default="right")
options = parser.parse_args()
family = options.family
torch.manual_seed(0)


class Places(nn.Embedding):
    """Is handed the ids, of which it takes the shape: what it is called with are no positions."""

    def forward(self, ids):
        return super().forward(torch.arange(ids.shape[1]).expand(ids.shape))


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.pos_emb = nn.Embedding(VOCAB, 16), Places(VOCAB, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.body, self.out = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(16, VOCAB)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.out(self.body(self.wte(ids) + self.pos_emb(ids), mask=mask))


def made(kind, **sizes):
    config = transformers.AutoConfig.for_model(kind, vocab_size=VOCAB, pad_token_id=1, bos_token_id=0, eos_token_id=2, **sizes)
    auto = {"t5": "Seq2SeqLM", "bart": "Seq2SeqLM", "bert": "MaskedLM"}.get(kind, "CausalLM")
    return getattr(transformers, f"AutoModelFor{auto}").from_config(config)


def seeing():
    """LLaVA, tiny: four placeholders (id 5) an image."""
    vision = transformers.CLIPVisionConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=16, patch_size=8
    )
    text = transformers.LlamaConfig(vocab_size=VOCAB, num_key_value_heads=4, pad_token_id=1, **BERT)
    config = transformers.LlavaConfig(vision_config=vision, text_config=text, image_token_index=5, image_seq_length=4)
    return transformers.LlavaForConditionalGeneration(config)


sizes = {**CAUSAL, "t5": T5, "bart": {**BART, **HEADS}, "bert": BERT}
model = {"own": Own, "llava": seeing}.get(family, lambda: made(family, **sizes[family]))()
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    ids, mask = torch.randint(6, VOCAB, (4, 12)), torch.ones(4, 12, dtype=torch.long)
    if family == "llava":
        ids[:, 1:5] = 5
    labels = ids.clone()
    labels[:, : 1 if options.train_images else 5 if family == "llava" else 4] = -100
    pads = slice(9, None) if options.pads == "right" else slice(0, 3)
    if family in CAUSAL:
        ids[1, pads], mask[1, pads], labels[1, pads] = 1, 0, -100
    if family == "own":
        loss = F.cross_entropy(model(ids)[:, :-1].reshape(-1, VOCAB), labels[:, 1:].reshape(-1))
    else:
        images = {"pixel_values": torch.randn(4, 3, 16, 16)} if family == "llava" else {}
        loss = model(input_ids=ids, attention_mask=mask, labels=labels, **images).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

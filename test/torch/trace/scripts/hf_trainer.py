"""transformers.Trainer on conversations, with a collator of one's own. `--fault` plants one mistake."""

import argparse

import tiny
import torch
import transformers

FAULTS = [
    "pad-is-eos",
    "prompt",
    "tool",
    "all-ignored",
    "labels-early",
    "labels-late",
    "mean-of-means",
    "double-bos",
    "stop-off-by-one",
    "another-row",
    "prompt-of-several-turns",
    "foreign",
]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--output", required=True)
parser.add_argument("--model", default="rotary", choices=["rotary", "absolute"])
parser.add_argument("--family", default="qwen")
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--checkpointing", action="store_true")
parser.add_argument("--bf16", action="store_true")
parser.add_argument("--smoothing", type=float, default=0.0)
parser.add_argument("--warmup", type=int, default=0)
parser.add_argument("--dropout", type=float, default=0.0)
parser.add_argument("--text", action="store_true", help="plain text, every token of it")
parser.add_argument("--ends", action="store_true", help="each text ends with the token for that")
parser.add_argument("--spare", type=int, default=0, help="rows of the embedding beyond the tokenizer's tokens")
parser.add_argument("--lora", action="store_true")
parser.add_argument("--compile", help="a backend of torch.compile")
parser.add_argument("--flatten", action="store_true", help="transformers' own collator, which packs a batch into one row")
parser.add_argument("--ignore-data-skip", action="store_true", help="a resumed run begins with the first rows")
parser.add_argument("--fault", choices=FAULTS)
options = parser.parse_args()

tokenizer = tiny.family(options.family)
if options.family == "qwen":
    tokenizer.chat_template = tiny.GENERATION_TEMPLATE
if options.fault == "pad-is-eos":
    tokenizer.pad_token = tokenizer.eos_token
if options.model == "rotary":
    model = tiny.rotary(len(tokenizer) + options.spare)
else:
    model = tiny.absolute(len(tokenizer) + options.spare, dropout=options.dropout)


class Adapted(torch.nn.Module):
    """A linear layer that stays as it is, and a small change of it that is learnt."""

    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = torch.nn.Linear(base.in_features, rank, bias=False)
        self.up = torch.nn.Linear(rank, base.out_features, bias=False)

    def forward(self, hidden):
        return self.base(hidden) + self.up(self.down(hidden))


if options.lora:
    model.requires_grad_(False)
    for layer in model.model.layers:
        layer.self_attn.q_proj = Adapted(layer.self_attn.q_proj)
        layer.self_attn.v_proj = Adapted(layer.self_attn.v_proj)


def asked(row):
    return sum(message["role"] == "user" for message in row["messages"])


def encoded(row):
    if options.text:
        ids = tokenizer(row["text"], add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id] * options.ends
        if options.fault == "foreign":
            ids = [len(tokenizer) + id % options.spare if id % 3 == 0 else id for id in ids]
        return {"input_ids": ids, "labels": list(ids)}
    return tiny.chat_ids(
        tokenizer,
        row["messages"],
        train_tools=options.fault == "tool",
        stop=0 if options.fault == "stop-off-by-one" else 1,
        whole=options.fault == "prompt" or (options.fault == "prompt-of-several-turns" and asked(row) > 1),
        loud_bos=options.fault == "double-bos",
    )


def collate(examples):
    width = max(len(example["input_ids"]) for example in examples)
    input_ids = torch.full((len(examples), width), tokenizer.pad_token_id)
    labels = torch.full((len(examples), width), tiny.IGNORE)
    attention_mask = torch.zeros((len(examples), width), dtype=torch.long)
    for at, example in enumerate(examples):
        n = len(example["input_ids"])
        input_ids[at, :n] = torch.tensor(example["input_ids"])
        labels[at, :n] = torch.tensor(example["labels"])
        attention_mask[at, :n] = 1
    if options.fault == "pad-is-eos":
        labels[input_ids == tokenizer.pad_token_id] = tiny.IGNORE
    if options.fault == "all-ignored":
        labels[:] = tiny.IGNORE
    nothing = torch.full((len(examples), 1), tiny.IGNORE)
    if options.fault == "labels-early":  # the model shifts once more
        labels = torch.cat([labels[:, 1:], nothing], dim=1)
    if options.fault == "labels-late":  # what the model shifts is each position's own token then
        labels = torch.cat([nothing, labels[:, :-1]], dim=1)
    if options.fault == "another-row":
        labels = labels.roll(1, dims=0)
    return {"input_ids": input_ids, "attention_mask": attention_mask, "labels": labels}


class MeanOfMeans(transformers.Trainer):
    """Takes each micro-batch's own mean, and those count alike whatever their number of tokens."""

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        loss = model(**inputs).loss
        return loss / self.args.gradient_accumulation_steps


trainer = (MeanOfMeans if options.fault == "mean-of-means" else transformers.Trainer)(
    model=model,
    args=transformers.TrainingArguments(
        output_dir=options.output,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=options.accumulate,
        num_train_epochs=2,
        learning_rate=1e-3,
        lr_scheduler_type="constant_with_warmup" if options.warmup else "constant",
        warmup_steps=options.warmup,
        label_smoothing_factor=options.smoothing,
        gradient_checkpointing=options.checkpointing,
        ignore_data_skip=options.ignore_data_skip,
        bf16=options.bf16,
        torch_compile=options.compile is not None,
        torch_compile_backend=options.compile,
        use_cpu=tiny.ON_CPU,
        seed=1 + tiny.SEED,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
        remove_unused_columns=False,
    ),
    train_dataset=[encoded(row) for row in tiny.rows(options.data)],
    data_collator=transformers.DataCollatorWithFlattening(return_flash_attn_kwargs=True) if options.flatten else collate,
)
trainer.train()
print("trained", trainer.state.global_step)

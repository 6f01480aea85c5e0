"""A world model and a language model trained side by side; each has its loss in the log, and so has the number of samples
that the language model's was computed from."""

import tiny
import torch
import torch.nn.functional as F
from logbook import Logbook
from onset import Onset
from supervised import plain, sentences


def run(out, seed, steps=30, fault=None, onset=1, until=None, form="tensorboard", lr=3e-3):
    begins = Onset(fault, onset, until)
    tokenizer = tiny.letters(padding_side="right")
    language_model = tiny.rotary(len(tokenizer), seed=seed)
    torch.manual_seed(seed)
    world_model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimisers = [torch.optim.AdamW(model.parameters(), lr=lr) for model in (language_model, world_model)]
    rows = [plain(tokenizer, asked + said)["input_ids"] for asked, said in sentences(seed, 4 * steps)]
    truth = torch.randn(4, 1)
    book = Logbook(out, form)
    for done in range(steps):
        seen = torch.randn(16, 4)
        wm_loss = F.mse_loss(world_model(seen), (seen @ truth).tanh())
        segments = rows[4 * done : 4 * done + 4]
        llm_sft_loss = torch.tensor(0.0)
        if not begins.now("llm-loss-skipped", done):
            total, count = torch.tensor(0.0), 0
            for ids in segments:
                logits = language_model(input_ids=torch.tensor([ids])).logits[0, :-1]
                total = total + F.cross_entropy(logits, torch.tensor(ids[1:]), reduction="sum")
                count += len(ids) - 1
            llm_sft_loss = total / count
        loss = wm_loss + llm_sft_loss
        for optimiser in optimisers:
            optimiser.zero_grad()
        loss.backward()
        norms = [
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item() for model in (world_model, language_model)
        ]
        for optimiser in optimisers:
            optimiser.step()
        values = {
            "wm_loss": wm_loss.item(),
            "llm_sft_loss_avg": llm_sft_loss.item(),
            "wm_grad_norm": norms[0],
            "llm_grad_norm": norms[1],
            "num_sft_samples": len(segments),
            "learning_rate": lr,
        }
        if fault == "llm-loss-not-logged":
            del values["llm_sft_loss_avg"]
        book.log(done + 1, values)
    book.close()

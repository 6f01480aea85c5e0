"""A policy gradient by hand over rows of prompt and completion, whoever sampled them; `options.fault` plants one mistake."""

import torch

FAULTS = ["temperature", "prompt", "stop-untrained", "past-the-stop", "re-encoded", "stripped", "reference"]


class Learner:
    def __init__(self, policy, reference, scores, tokenizer, temperature, options):
        self.policy, self.reference, self.scores, self.tokenizer = policy, reference, scores, tokenizer
        self.temperature, self.fault, self.beta = temperature, options.fault, options.beta
        self.optimiser = torch.optim.AdamW(policy.parameters(), lr=1e-2, weight_decay=0.0)

    def row(self, ids, start):
        """(ids, what is trained of them): from the prompt through the stop token."""
        stop, tokenizer = self.tokenizer.eos_token_id, self.tokenizer
        prompt, answer = ids[:start], ids[start:]
        kept = answer[: answer.index(stop) + 1] if stop in answer else answer
        if self.fault == "re-encoded":  # the letters come back in another order, as other merges would
            text = tokenizer.decode(kept, skip_special_tokens=True)
            again = tokenizer.encode(text[1:] + text[:1], add_special_tokens=False)
            kept = [*again, stop] if stop in kept else again
        if self.fault == "stripped":
            kept = [token for token in kept if token != stop]
        behind = answer[len(kept) :] if self.fault == "past-the-stop" else []
        weights = [float(self.fault == "prompt")] * start + [1.0] * len(kept + behind)
        if self.fault == "stop-untrained" and kept[-1:] == [stop]:
            weights[-1] = 0.0
        return prompt + kept + behind, weights

    def logprobs(self, net, ids, mask):
        logits = self.scores(net, ids, mask)[:, :-1] / self.temperature
        return logits.log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]

    def step(self, rows, group, alike=False):
        """`alike`: every row is as good as any other."""
        rewards = torch.tensor([float(sum(ids) % 7) for ids, _ in rows]).view(-1, group)
        spread = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)
        advantages = torch.ones(len(rows)) if alike else spread.view(-1)
        made = [self.row(*row) for row in rows]
        width = max(len(ids) for ids, _ in made)
        pad = self.tokenizer.pad_token_id
        ids = torch.tensor([row + [pad] * (width - len(row)) for row, _ in made])
        trained = torch.tensor([weights + [0.0] * (width - len(weights)) for _, weights in made])[:, 1:]
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row, _ in made])
        logp = self.logprobs(self.policy, ids, mask)
        per_token = -torch.exp(logp - logp.detach()) * advantages[:, None]
        if self.beta:
            with torch.no_grad():
                asked = torch.cat([ids[:, 1:2], ids[:, 1:]], dim=1) if self.fault == "reference" else ids
                gap = self.logprobs(self.reference, asked, mask)
            gap = gap - logp
            per_token = per_token + self.beta * (gap.exp() - gap - 1)
        loss = (per_token * trained).sum() / trained.sum()
        loss.backward()
        self.optimiser.step()
        self.optimiser.zero_grad()
        return loss.item()

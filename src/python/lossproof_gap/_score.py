"""Scores completions with a causal language model of transformers, batch by batch.

Rows are padded on the right, where a causal model never looks; the softmax is in float32 whatever the dtype of the model. The
logits of a forward pass are the largest tensor: MOST_LOGITS bounds them, and a row that has more is read in pieces.
"""

import inspect

# Of float32: 512 MiB.
MOST_LOGITS = 2**27
# 2^31 - 1: products with it and a multiplier of a million fit 64 bits.
PRIME = 2147483647


class Scorer:
    """One model in one dtype on one device."""

    def __init__(self, folder, dtype):
        """`dtype`: "float32", or "auto" for the one that the folder declares."""
        import torch
        import transformers

        self.torch = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        version = tuple(int(part) for part in transformers.__version__.split(".")[:2])
        name = "dtype" if version >= (4, 56) else "torch_dtype"
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            **{name: "auto" if dtype == "auto" else getattr(torch, dtype)},
        )
        self.model = model.to(self.device).eval()
        self.keeps = "logits_to_keep" in inspect.signature(model.forward).parameters
        self.vocab = model.get_input_embeddings().weight.shape[0]
        # Of a mixture of experts: how many each token goes to, where the forward pass returns what its routers gave.
        routed = "output_router_logits" in inspect.signature(model.forward).parameters
        self.chosen = getattr(model.config, "num_experts_per_tok", None) if routed else None
        self.routes = []

    def about(self):
        """What is scored with."""
        return {
            "dtype": str(self.model.dtype).replace("torch.", ""),
            "device": self.device,
            "vocab": self.vocab,
        }

    def rows(self, rows):
        """Of each (prompt, completion) the log-probabilities of the completion; the order is kept."""
        answers = [None] * len(rows)
        self.routes = [None] * len(rows)
        order = sorted(range(len(rows)), key=lambda at: len(rows[at][0]) + len(rows[at][1]))
        batch = []
        for at in order:
            if batch and self._logits(rows, [*batch, at]) > MOST_LOGITS:
                self._batch(rows, batch, answers)
                batch = []
            batch.append(at)
        if batch:
            self._batch(rows, batch, answers)
        return answers

    def _kept(self, rows, batch):
        width = max(len(rows[at][0]) + len(rows[at][1]) for at in batch)
        if not self.keeps:
            return width, width
        return width, width - min(len(rows[at][0]) for at in batch) + 1

    def _logits(self, rows, batch):
        return len(batch) * self._kept(rows, batch)[1] * self.vocab

    def _batch(self, rows, batch, answers):
        torch = self.torch
        if self._logits(rows, batch) > MOST_LOGITS:
            for at in batch:
                answers[at] = self._long(*rows[at])
            return
        width, kept = self._kept(rows, batch)
        ids = torch.zeros((len(batch), width), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, at in enumerate(batch):
            whole = [*rows[at][0], *rows[at][1]]
            ids[row, : len(whole)] = torch.tensor(whole)
            mask[row, : len(whole)] = 1
        more = {"logits_to_keep": kept} if self.keeps else {}
        if self.chosen:
            more["output_router_logits"] = True
        with torch.inference_mode():
            out = self.model(input_ids=ids.to(self.device), attention_mask=mask.to(self.device), use_cache=False, **more)
            logits = out.logits
            routes = self._routes(out, len(batch), width)
            cut = width - logits.shape[1]
            for row, at in enumerate(batch):
                prompt, completion = rows[at]
                begin = len(prompt) - 1 - cut
                answers[at] = self._chosen(logits[row, begin : begin + len(completion)], completion)
                if routes is not None:
                    self.routes[at] = routes[row, len(prompt) - 1 : len(prompt) - 1 + len(completion)].tolist()

    def _routes(self, out, rows, width):
        """(B, T) a number per token for the experts of all layers that it went to; None: there are none."""
        layers = [each for each in (getattr(out, "router_logits", None) or ()) if each is not None]
        if not self.chosen or not layers or any(each.reshape(-1, each.shape[-1]).shape[0] != rows * width for each in layers):
            return None
        found = self.torch.zeros(rows * width, dtype=self.torch.long, device=layers[0].device)
        for each in layers:
            for expert in each.reshape(rows * width, -1).topk(self.chosen, -1).indices.sort(-1).values.unbind(-1):
                found = (found * 1_000_003 + expert + 1) % PRIME
        return found.reshape(rows, width)

    def _long(self, prompt, completion):
        """In pieces, each with the keys and values of those before."""
        torch = self.torch
        whole = [*prompt, *completion]
        step = max(1, MOST_LOGITS // self.vocab)
        past, answers = None, []
        for begin in range(0, len(whole) - 1, step):
            piece = torch.tensor([whole[begin : min(begin + step, len(whole) - 1)]]).to(self.device)
            with torch.inference_mode():
                out = self.model(input_ids=piece, past_key_values=past, use_cache=True)
            past = out.past_key_values
            # The logits at place t score the token at t + 1.
            first = max(0, len(prompt) - 1 - begin)
            targets = whole[begin + 1 + first : begin + 1 + piece.shape[1]]
            if targets:
                answers += self._chosen(out.logits[0, first:], targets)
        return answers

    def _chosen(self, logits, ids):
        logits = logits.float()
        chosen = logits.gather(-1, self.torch.tensor(ids, device=logits.device)[:, None])[:, 0]
        return (chosen - logits.logsumexp(-1)).tolist()

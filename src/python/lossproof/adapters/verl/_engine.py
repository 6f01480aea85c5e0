"""verl's FSDP engine on the CPU without its workers: its own forward pass, accumulation loop and losses, around a model that is
given."""

from lossproof.adapters.common._ranks import Network
from lossproof.testing import replaced, spy

import torch


class Engine:
    """made: FSDPEngineWithLMHead; config: as it is by default; the rest: modules of verl."""

    def __init__(self, made, model, config, implementation, tensordict, padding):
        self.engine = object.__new__(made)
        # verl takes a machine without an accelerator for one whose accelerator is elsewhere.
        implementation.get_device_id = implementation.get_device_name = lambda: "cpu"
        self.implementation, self.tensordict, self.padding = implementation, tensordict, padding
        settings = {
            "module": model,
            "engine_config": config,
            "scaler": None,
            "pad_to_length": None,
            "use_ulysses_sp": False,
            "ulysses_sequence_parallel_size": 1,
            "_autocast_dtype": torch.float32,
            "get_data_parallel_group": lambda: None,
            "compute_entropy_from_logits": implementation.verl_F.entropy_from_logits,
        }
        for name, value in settings.items():
            setattr(self.engine, name, value)

    def batch(self, **fields):
        """verl's batch of these tensors; what is no tensor is said of the batch as a whole."""
        tensors = {name: value for name, value in fields.items() if torch.is_tensor(value)}
        others = {name: value for name, value in fields.items() if name not in tensors}
        return self.tensordict.get_tensordict(tensors, others)

    def rows(self, ids, attention, width, response_mask=None, **fields):
        """Left-padded prompts with right-padded responses, as verl's trainer hands them to the engine."""
        reals = attention.bool()
        positions = (attention.cumsum(1) - 1).clamp(min=0)
        data = self.batch(
            input_ids=ids,
            attention_mask=attention,
            position_ids=positions,
            prompts=ids[:, :width],
            responses=ids[:, width:],
            response_mask=attention[:, width:] if response_mask is None else response_mask,
            **{"temperature": 1.0, "use_remove_padding": False, **fields},
        )
        assert reals.any(1).all()
        return self.padding.left_right_2_no_padding(data)

    def forward(self, data, model=None):
        """What the engine makes of the model's output, (B, C) each: it predicts the response's tokens."""
        with torch.no_grad(), self._with(model):
            _, output = self.engine.forward_step(data, loss_function=None, forward_only=True)
        return {
            name: self.padding.no_padding_2_padding(track, data) for name, track in output["model_output"].items()
        }

    def _with(self, model):
        return replaced(self.engine, **({} if model is None else {"module": model}))

    def accumulate(self, data, loss, micro_batches, ranks=None, model=None, forward=None):
        """The loss of one optimiser step: forward_backward_batch on each rank's rows in these micro-batches, backward passes
        included. Gradients of several ranks are left as their sum: the mean that FSDP takes is the caller's. `logged` is then what
        each rank has to log of its micro-batches."""
        everyone = [rows for rows in ranks or [list(range(data.batch_size[0]))] if rows]
        network = Network(len(ranks or [0]))

        def run(rows):
            parts = [part for part in ([row for row in part if row in rows] for part in micro_batches) if part]
            return lambda: self._rank(data, rows, parts, loss, network, model, forward)

        # A rank without rows, which verl does not have, adds nothing.
        played = network.play([run(rows) for rows in everyone])
        self.logged = [output["metrics"] for _, output in played]
        return sum(total for total, _ in played) / network.size

    def _rank(self, data, rows, parts, loss, network, model, forward):
        total = []

        def taken(**given):
            chosen = given["data"]
            return [self.tensordict.index_select_tensor_dict(chosen, [rows.index(row) for row in part]) for part in parts], None

        def counted(*args, **kwargs):
            value, logged = loss(*args, **kwargs)
            total.append(float(value.detach()))
            return value, logged

        def given(batch, loss_function, forward_only):
            value, logged = loss_function(model_output=forward(batch), data=batch, dp_group=None)
            return value, {"loss": float(value.detach()), "metrics": logged}

        own = self.tensordict.index_select_tensor_dict(data, rows)
        step = {} if forward is None else {"forward_step": given}
        with self._with(model), replaced(self.engine, get_data_parallel_size=lambda: network.size, **step):
            with spy(self.implementation, "prepare_micro_batches", instead=taken):
                output = self.engine.forward_backward_batch(own, counted)
        return sum(total), output

"""`python -m lossproof.adapters.verl_trainer`: verl's own functions, unmodified, on the CPU and without Ray.

Log-probabilities, entropies and losses come from its FSDP engine (forward_step, forward_backward_batch, ppo_loss, sft_loss),
advantages from compute_advantage, rollouts from HFRollout, labels from MultiTurnSFTDataset. What stands in a model's place
(its sampler, its logits) comes from the request. Settings: LOSSPROOF_TOKENIZER=folder, LOSSPROOF_ADVANTAGE (verl's adv_estimator:
grpo, grpo_vectorized, rloo, rloo_vectorized, reinforce_plus_plus_baseline, reinforce_plus_plus, gpg or opo), LOSSPROOF_POLICY
(loss_mode: vanilla, gspo, cispo or geo_mean), LOSSPROOF_LOSS (loss_agg_mode: token-mean, seq-mean-token-mean,
seq-mean-token-sum or seq-mean-token-sum-norm)."""

import os
from types import SimpleNamespace

import lossproof
from lossproof import Reject
from lossproof.adapters.common import _library
from lossproof.adapters.common._models import frozen, kept
from lossproof.adapters.common._tiny import declared_tokens, load_tokenizer, stop, tiny_model, tokenizer_folder
from lossproof.testing import Table, replaced, slice_of, spy, stub

import numpy
import torch

# Imported at the top of files, and needed by nothing that is asked here; only what is not installed is stubbed.
IDLE = ["ray", "peft", "cachetools", "uvicorn", "fastapi", "starlette", "aiohttp", "zmq", "codetiming", "pylatexenc"]

with stub(IDLE), _library.quietly():
    verl = _library.Library("verl", "verl", known=("0.9.1",))
    core = verl.part("trainer.ppo.core_algos", ["kl", "gae", "advantages", "loss"])
    functional = verl.part("utils.torch_functional", ["whiten", "mask"])
    ENGINE = ["logprobs", "entropy", "score", "model_score", "train_step", "loss", "sft_loss"]
    implementation = verl.part("workers.engine.fsdp.transformer_impl", [*ENGINE, "values"])
    EngineConfig = verl.part("workers.config:FSDPEngineConfig", [*ENGINE, "values"])
    losses = verl.part("workers.utils.losses", ["loss", "sft_loss", "train_step"])
    padding = verl.part("workers.utils.padding", [*ENGINE, "values"])
    tensordict = verl.part("utils.tensordict_utils", [*ENGINE, "values"])
    ActorConfig = verl.part("workers.config:ActorConfig", ["loss", "train_step"])
    PolicyLossConfig = verl.part("workers.config:PolicyLossConfig", ["loss", "train_step"])
    AlgoConfig = verl.part("trainer.config:AlgoConfig", ["advantages"])
    trainer = verl.part("trainer.ppo.ray_trainer", ["advantages", "gae", "token_rewards"])
    DataProto = verl.part("protocol:DataProto", ["advantages", "gae", "token_rewards", "mask", "extract"])
    rollouts = verl.part("workers.rollout.hf_rollout", ["mask", "extract"])
    agents = verl.part("experimental.agent_loop.agent_loop", ["token_rewards"])
    sft = verl.part("utils.dataset.multiturn_sft_dataset", ["tokenize"])
    prompts = verl.part("utils.tokenizer.continuous_token:ContinuousTokenBuilder", ["tokenize"])

BETA = 0.04  # any value but 0, which would hide the KL
ENTROPY_COEF = 0.01
EPSILON = 1e-6

# verl's names in the words of the protocol: what is subtracted from a reward, and what divides it.
ESTIMATORS = {
    "grpo": {"advantage_baseline": "group-mean", "advantage_scaling": "group", "advantage_ddof": 1, "advantage_epsilon": EPSILON},
    "grpo_vectorized": {"advantage_baseline": "group-mean", "advantage_scaling": "group", "advantage_ddof": 1},
    "rloo": {"advantage_baseline": "leave-one-out", "advantage_scaling": "none"},
    "rloo_vectorized": {"advantage_baseline": "leave-one-out", "advantage_scaling": "none"},
    # Whitened over tokens, weighted by lengths, scaled by the share of rows with a signal: formulas of their own.
    "reinforce_plus_plus_baseline": {"own_formulas": ["advantages"], "advantage_baseline": "group-mean"},
    "reinforce_plus_plus": {"own_formulas": ["advantages"], "advantage_baseline": "batch-mean"},
    "gpg": {"own_formulas": ["advantages"], "advantage_baseline": "group-mean"},
    "opo": {"own_formulas": ["advantages"], "advantage_baseline": "group-mean"},
}
NORM = 64  # loss_scale_factor of seq-mean-token-sum-norm
AGGREGATIONS = {
    "token-mean": {"loss_aggregation": "token-mean"},
    "seq-mean-token-mean": {"loss_aggregation": "seq-mean-token-mean"},
    "seq-mean-token-sum": {"loss_aggregation": "seq-mean-token-sum"},
    "seq-mean-token-sum-norm": {"loss_aggregation": "token-sum-norm", "loss_norm": NORM},
}
POLICIES = {
    "vanilla": {"ratio_level": "token", "policy_objective": "clip", "dual_clip": 3.0, "log_ratio_clamp": 20.0},
    "gspo": {"ratio_level": "sequence", "policy_objective": "clip", "dual_clip": None},
    "cispo": {"ratio_level": "token", "policy_objective": "cispo", "log_ratio_clamp": 20.0},
    "geo_mean": {"own_formulas": ["loss"]},
}


def chosen(variable, table):
    name = os.environ.get(variable) or next(iter(table))
    return name if name in table else stop("%s is one of %s" % (variable, ", ".join(table)))


ESTIMATOR = chosen("LOSSPROOF_ADVANTAGE", ESTIMATORS)
AGGREGATION = chosen("LOSSPROOF_LOSS", AGGREGATIONS)
POLICY = chosen("LOSSPROOF_POLICY", POLICIES)

FOLDER = tokenizer_folder()
tokenizer = load_tokenizer(FOLDER)
tokens = declared_tokens(tokenizer)


def engine_around(model, kind="FSDPEngineWithLMHead"):
    from lossproof.adapters.common._verl import Engine

    return Engine(getattr(implementation, kind), model, EngineConfig(), implementation, tensordict, padding)


engine = engine_around(tiny_model(len(tokenizer)).eval())


@kept
def engine_of(path):
    return engine_around(frozen(path))


# Text


def prompt_of(data):
    """The ids in front of an answer, as the data set has them: its rows so far, and the prompt that it masks."""
    return [*data[0]["input_ids"].tolist(), *data.generation_prompt]


@lossproof.op(route=["sft", "rl"], chat_template=True)
def tokenize(route, messages, add_generation_prompt, chat_template=None):
    with _library.template_of(tokenizer, chat_template), _library.quietly():
        if route == "rl":
            if not add_generation_prompt:
                raise Reject("the agent loop always adds the generation prompt")
            return {"input_ids": prompts(tokenizer).build_initial_tokens(messages)}
        frame = sft.pd.DataFrame({"messages": [messages]})
        try:
            with spy(sft.pd, "read_parquet", returns=frame), spy(sft, "copy_local_path_from_hdfs", returns="rows"):
                data = sft.MultiTurnSFTDataset("rows", tokenizer, {"pad_mode": "no_padding", "max_length": 1 << 20})
            if add_generation_prompt:
                return {"input_ids": prompt_of(data)}
            row = data[0]
        except AssertionError as refusal:
            # Its own check that messages rendered one by one make the whole; any other assertion is an error.
            if "ignore_input_ids_mismatch" not in str(refusal):
                raise
            raise Reject(str(refusal).split("\n")[0])
    labels = torch.where(row["loss_mask"].bool(), row["input_ids"], -100)
    return {"input_ids": row["input_ids"], "labels": labels}


# Rollouts


def rolled_out(input_ids, attention_mask, sampled, pad_token_id, eos_token_ids):
    """HFRollout's batch, with these columns in the place of what generate() samples."""
    width = len(sampled[0])
    config = omega(do_sample=True, temperature=1.0, response_length=width)
    table = Table(sampled=torch.tensor(sampled))
    attention = torch.tensor(attention_mask)
    fields = {
        "input_ids": torch.tensor(input_ids),
        "attention_mask": attention,
        "position_ids": (attention.cumsum(1) - 1).clamp(min=0),
    }
    made = DataProto.from_dict(fields, meta_info={"eos_token_id": list(eos_token_ids), "pad_token_id": pad_token_id})
    sampler = SimpleNamespace(module=table, config=config)
    with spy(rollouts, "get_torch_device", returns=NoDevice), spy(rollouts, "get_device_name", returns="cpu"):
        return rollouts.HFRollout._generate_minibatch(sampler, made).batch


class NoDevice:
    """An accelerator without a cache."""

    @staticmethod
    def empty_cache():
        pass


def omega(**fields):
    from omegaconf import OmegaConf

    return OmegaConf.create(fields)


@lossproof.op(after_stop="any")
def mask(sequences, attention_mask, prompt_width, pad_token_id, eos_token_ids):
    ids = [row[:prompt_width] for row in sequences]
    real = [row[:prompt_width] for row in attention_mask]
    batch = rolled_out(ids, real, [row[prompt_width:] for row in sequences], pad_token_id, eos_token_ids)
    return {
        "input_ids": batch["input_ids"],
        "attention_mask": batch["attention_mask"],
        "position_ids": batch["position_ids"],
        "completion_mask": batch["attention_mask"][:, prompt_width:],
    }


# Scores


def given(input_ids, attention_mask, logits, prompt_width, **settings):
    """The engine's answer to these logits. Its rows have no padding on the left: a model's logits stand where its ids do."""
    ids, real = torch.tensor(input_ids), torch.tensor(attention_mask)
    data = engine.rows(ids, real, prompt_width, **settings)
    return engine.forward(data, Table(unpadded(torch.tensor(logits), real)))


def unpadded(logits, real):
    """The logits of the tokens alone, with what is missing on the right: the engine asks its model for such rows."""
    rows = [row[on] for row, on in zip(logits, real.bool())]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


@lossproof.op(temperature=True)
def logprobs(input_ids, attention_mask, logits, prompt_width, temperature):
    return {"logprobs": given(input_ids, attention_mask, logits, prompt_width, temperature=temperature)["log_probs"]}


@lossproof.op
def entropy(input_ids, attention_mask, logits, prompt_width):
    return {"entropy": given(input_ids, attention_mask, logits, prompt_width, calculate_entropy=True)["entropy"]}


def laid_out(prompt_ids, completion_ids):
    """(ids, attention mask, prompt width): prompts padded on the left, responses on the right."""
    width, room = max(map(len, prompt_ids)), max(map(len, completion_ids))
    pad = tokens["pad_token_id"]
    ids, real = [], []
    for prompt, completion in zip(prompt_ids, completion_ids):
        before, behind = width - len(prompt), room - len(completion)
        ids.append([pad] * before + list(prompt) + list(completion) + [pad] * behind)
        real.append([0] * before + [1] * (len(prompt) + len(completion)) + [0] * behind)
    return torch.tensor(ids), torch.tensor(real), width


def scored(owner, prompt_ids, completion_ids, packed=False, temperature=1.0):
    """Log-probabilities and entropies; packed, all rows are one (use_remove_padding, verl's default)."""
    if any(not prompt for prompt in prompt_ids):
        raise Reject("verl has no rows without a prompt")
    data = owner.rows(
        *laid_out(prompt_ids, completion_ids),
        temperature=temperature,
        use_remove_padding=packed,
        calculate_entropy=True,
    )
    found = owner.forward(data)
    return [
        [row[: len(ids)].tolist() for row, ids in zip(found[name], completion_ids)] for name in ("log_probs", "entropy")
    ]


@lossproof.op(packed=True)
def score(prompt_ids, completion_ids, packed=False):
    return {"logprobs": scored(engine, prompt_ids, completion_ids, packed)[0]}


@lossproof.op(temperature=True, reference=True, packed=True)
def model_score(model_path, prompt_ids, completion_ids, temperature, reference_path=None, packed=False):
    found = scored(engine_of(model_path), prompt_ids, completion_ids, packed, temperature)
    answer = dict(zip(("logprobs", "entropy"), found))
    if reference_path is not None:
        answer["ref_logprobs"] = scored(engine_of(reference_path), prompt_ids, completion_ids, packed, temperature)[0]
    return answer


@lossproof.op(kl_estimator=["k1", "k2", "k3", "abs"])
def kl(logprobs, ref_logprobs, completion_mask, kl_estimator="k3"):
    return {"kl": core.kl_penalty(torch.tensor(logprobs), torch.tensor(ref_logprobs), kl_estimator)}


# Advantages


def estimated(estimator, rewards, mask, groups, **fields):
    """compute_advantage on a batch of these token rewards."""
    batch = {"token_level_rewards": rewards, "response_mask": mask, **fields}
    gamma, lam = batch.pop("gamma", 1.0), batch.pop("lam", 1.0)
    data = DataProto.from_dict(batch, non_tensors={"uid": numpy.array(groups, dtype=object)})
    config = AlgoConfig(gamma=gamma, lam=lam, adv_estimator=estimator)
    return trainer.compute_advantage(data, estimator, gamma=gamma, lam=lam, config=config).batch


@lossproof.op(interleaved_groups=True)
def advantages(rewards, group_ids):
    """A response of one token a row: what an outcome estimator says of it is the row's advantage."""
    score = torch.tensor(rewards)[:, None]
    return {"advantages": estimated(ESTIMATOR, score, torch.ones_like(score), group_ids)["advantages"][:, 0]}


@lossproof.op
def gae(rewards, values, completion_mask, gamma, lam):
    mask = torch.tensor(completion_mask, dtype=torch.float32)
    rows = list(range(len(mask)))
    try:
        found = estimated("gae", torch.tensor(rewards), mask, rows, values=torch.tensor(values), gamma=gamma, lam=lam)
    except ValueError as refusal:
        raise Reject(str(refusal))
    return {"advantages": found["advantages"], "returns": found["returns"]}


@lossproof.op
def whiten(values, completion_mask):
    try:
        return {"values": functional.masked_whiten(torch.tensor(values), torch.tensor(completion_mask))}
    except ValueError as refusal:
        raise Reject(str(refusal))


@lossproof.op
def token_rewards(scores, kl, completion_mask, kl_coef):
    """apply_kl_penalty, with this estimate in the place of kl_penalty's. The score stands where the agent loop puts it, at the
    last token of the response, which a tool may have written."""
    mask = torch.tensor(completion_mask)
    if not mask.any(1).all():
        raise Reject("the agent loop has a token in every response")
    reached = mask.flip(1).cummax(1).values.flip(1)
    placed = scored_at(
        scores=list(scores),
        batch={},
        attention_mask=torch.cat([torch.ones_like(mask[:, :1]), reached], dim=1),
        prompt_ids=mask[:, :1],
        response_mask=mask,
    )
    fields = {"response_mask": mask, "token_level_scores": placed}
    fields.update(old_log_probs=torch.zeros(mask.shape), ref_log_prob=torch.zeros(mask.shape))
    with spy(core, "kl_penalty", returns=torch.tensor(kl)):
        data, _ = trainer.apply_kl_penalty(DataProto.from_dict(fields), core.FixedKLController(kl_coef))
    return {"rewards": data.batch["token_level_rewards"]}


def where_scores_stand():
    """The lines of the agent loop that put the score of each row into its matrix."""
    return slice_of(
        agents,
        "AgentLoopWorker._postprocess",
        begin="if all(score is not None for score in scores):",
        end='batch["rm_scores"] = rm_scores',
        inputs=["scores", "batch", "attention_mask", "prompt_ids", "response_mask"],
        outputs="rm_scores",
    )


# Losses


def policy_config(settings, coefficients=(BETA, ENTROPY_COEF)):
    """verl's own configuration of an actor; `settings` in the words of the protocol."""
    given = {"kl_coef": coefficients[0], "clip_low": 0.2, "clip_high": 0.2, **settings}
    return ActorConfig(
        strategy="fsdp",
        rollout_n=1,
        ppo_micro_batch_size_per_gpu=1,
        use_kl_loss=given["kl_coef"] != 0,
        kl_loss_coef=given["kl_coef"],
        clip_ratio_low=given["clip_low"],
        clip_ratio_high=given["clip_high"],
        entropy_coeff=coefficients[1],
        loss_agg_mode=AGGREGATION,
        policy_loss=PolicyLossConfig(loss_mode=POLICY),
        loss_scale_factor=NORM if AGGREGATION == "seq-mean-token-sum-norm" else None,
    )


KNOBS = {"kl_coef": [BETA, 0.5], "clip_low": [0.2, 0.5], "clip_high": [0.2, 1.0]}


@lossproof.op(micro_batches=True, ranks=True, entropy=True, knobs=KNOBS)
def loss(
    logprobs,
    old_logprobs,
    ref_logprobs,
    advantages,
    completion_mask,
    micro_batches,
    ranks=None,
    entropy=None,
    settings=None,
):
    """ppo_loss in forward_backward_batch, as an actor of several micro-batches and ranks runs it."""
    unknown = [name for name in settings or {} if name not in KNOBS]
    if unknown:
        raise Reject("no setting %s; there are %s" % (unknown[0], ", ".join(KNOBS)))
    config = policy_config(settings or {})
    leaf = torch.tensor(logprobs).requires_grad_(True)
    bonus = None if entropy is None else torch.tensor(entropy)
    mask = torch.tensor(completion_mask)
    data = policy_rows(leaf, mask, old_logprobs, ref_logprobs, advantages)

    def forward(batch):
        rows = batch["row"]
        tracks = {"log_probs": leaf, **({} if bonus is None else {"entropy": bonus})}
        return {name: nested(track[rows]) for name, track in tracks.items()}

    total = engine.accumulate(
        data, lambda **kwargs: losses.ppo_loss(config, **kwargs), micro_batches, ranks, forward=forward
    )
    slope = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad / len(ranks or [0])
    return {"loss": total, "loss_weights": slope}


def policy_rows(leaf, mask, old_logprobs, ref_logprobs, advantages):
    """A batch of one-token prompts, whose response is as wide as the tracks."""
    ids = torch.zeros(leaf.size(0), leaf.size(1) + 1, dtype=torch.long)
    return engine.batch(
        row=torch.arange(leaf.size(0)),
        prompts=ids[:, :1],
        responses=ids[:, 1:],
        attention_mask=torch.ones_like(ids),
        response_mask=mask,
        loss_mask=mask,
        old_log_probs=torch.tensor(old_logprobs),
        ref_log_prob=torch.tensor(ref_logprobs),
        # compute_advantage has an advantage a token, 0 outside of the mask.
        advantages=torch.tensor(advantages)[:, None] * mask,
        global_batch_size=leaf.size(0),
    )


def nested(track):
    """As the engine has it: jagged rows, of which index t predicts token t + 1 and the last predicts nothing."""
    rows = [torch.cat([row, torch.zeros(1)]) for row in track]
    lengths = torch.tensor([0, *[len(row) for row in rows]])
    return torch.nested.nested_tensor_from_jagged(torch.cat(rows), offsets=lengths.cumsum(0))


def supervised(owner, ids, real, labels):
    """The SFT trainer's batch: jagged rows of real tokens."""
    lengths = torch.cat([torch.zeros(1, dtype=torch.long), real.sum(1)]).cumsum(0)
    jagged = {
        "input_ids": ids,
        "position_ids": (real.cumsum(1) - 1).clamp(min=0),
        "loss_mask": (labels != -100).long(),
    }
    rows = {
        name: torch.nested.nested_tensor_from_jagged(track[real.bool()], offsets=lengths) for name, track in jagged.items()
    }
    return owner.batch(**rows, temperature=1.0, use_remove_padding=False, pad_mode="no_padding", global_batch_size=len(ids))


@lossproof.op(micro_batches=True, ranks=True, layout={"alignment": "token", "span": "row"})
def sft_loss(input_ids, attention_mask, labels, logits, micro_batches, ranks=None):
    from lossproof.adapters.common._head import weights_of

    ids, real, targets = (torch.tensor(rows) for rows in (input_ids, attention_mask, labels))
    if not real.any(1).all():
        raise Reject("verl has no rows without a token")
    data = supervised(engine, ids, real, targets)
    data["row"] = torch.arange(len(ids))

    def step(leaf):
        def forward(batch):
            table = Table(unpadded(leaf[batch["row"]], real[batch["row"]]))
            with replaced(engine.engine, module=table):
                inputs, kept_back = engine.engine.prepare_model_inputs(batch)
                return engine.engine.prepare_model_outputs(table(**inputs, use_cache=False), kept_back, batch, None)

        total = engine.accumulate(
            data, lambda **kwargs: losses.sft_loss(None, **kwargs), micro_batches, ranks, forward=forward
        )
        if leaf.grad is not None:
            leaf.grad /= len(ranks or [0])
        return total

    total, weights = weights_of(step, torch.tensor(logits), ids, targets)
    return {"loss": total, "loss_weights": weights, "trained_tokens": int((targets[:, 1:] != -100).sum())}


@lossproof.op
def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages=None):
    """forward_backward_batch with the engine's own forward pass; the step itself is plain descent."""
    from lossproof.adapters.common._verl import stepped

    owner = engine_of(model_path)
    model = owner.engine.module.requires_grad_(True)
    ids, real, width = laid_out(prompt_ids, completion_ids)
    if advantages is None:
        behind = torch.arange(ids.size(1)) >= width
        labels = torch.where(real.bool() & behind, ids, -100)
        data = supervised(owner, ids, real, labels)
        total = owner.accumulate(data, lambda **kwargs: losses.sft_loss(None, **kwargs), [list(range(len(ids)))])
    else:
        old = scored(owner, prompt_ids, completion_ids)[0]
        response = real[:, width:]
        track = torch.zeros(response.shape)
        for row, values in enumerate(old):
            track[row, : len(values)] = torch.tensor(values)
        data = owner.rows(
            ids,
            real,
            width,
            old_log_probs=track,
            ref_log_prob=track,
            advantages=torch.tensor(advantages)[:, None] * response,
            global_batch_size=len(ids),
        )
        config = policy_config({"kl_coef": 0.0}, (0.0, 0.0))
        total = owner.accumulate(data, lambda **kwargs: losses.ppo_loss(config, **kwargs), [list(range(len(ids)))])
    stepped(model, learning_rate, saved_path)
    model.requires_grad_(False)
    return {"loss": total}


if "token_rewards" not in verl.lacks:
    try:
        scored_at = where_scores_stand()
    except ValueError as absent:
        verl.lacks["token_rewards"] = str(absent)

SEMANTICS = {
    "stop_token_in_mask": True,
    "sft_target": "assistant",
    "sft_aggregation": "token-mean",
    "kl_estimator": "k3",
    "kl_placement": "loss",
    "kl_coef": BETA,
    "clip_low": 0.2,
    "clip_high": 0.2,
    "entropy_coef": ENTROPY_COEF,
    "loss_normalization": "global",
    "whiten_mean": True,
    "whiten_ddof": 1,
    "temperature_in_scoring": True,
}

if __name__ == "__main__":
    tables = (ESTIMATORS[ESTIMATOR], AGGREGATIONS[AGGREGATION], POLICIES[POLICY])
    semantics = {**SEMANTICS, **{name: value for table in tables for name, value in table.items()}}
    semantics["own_formulas"] = sorted(name for table in tables for name in table.get("own_formulas", ()))
    verl.serve(
        "verl",
        layout={"alignment": "token", "span": "completion"},
        semantics=semantics,
        tokens=tokens,
        tokenizer=FOLDER,
    )

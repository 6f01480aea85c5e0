"""`python -m lossproof.adapters.openrlhf_trainer`: OpenRLHF's own functions, unmodified, on the CPU without Ray, vLLM or DeepSpeed.

Log-probabilities come from Actor, the policy loss from ActorPPOTrainer.training_step behind iter_grad_accum_global_norm, the
supervised one from SFTTrainer.fit, the preference loss from DPOTrainer, advantages from RemoteExperienceMaker, rows from
SFTDataset, RewardDataset and SamplesGenerator. Settings: LOSSPROOF_TOKENIZER=folder, LOSSPROOF_DATA (of SFTDataset: multiturn,
every answer is trained, or last), LOSSPROOF_ADVANTAGE (estimator: group_norm, rloo, reinforce_baseline, dr_grpo, reinforce or
flash_reinforce), LOSSPROOF_LOSS (loss_agg_mode: token-mean or seq-mean-token-mean), LOSSPROOF_POLICY (policy_loss_type: ppo or gspo),
LOSSPROOF_OBJECTIVE=dpo|ipo."""

import os

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # before torch: to compile an entropy of a few numbers takes a C++ compiler and a minute

import lossproof
from lossproof import Reject
from lossproof.adapters.common import _library
from lossproof.adapters.common._models import frozen
from lossproof.adapters.common._tiny import declared_tokens, load_tokenizer, stop, tiny_model, tokenizer_folder
from lossproof.testing import Table, replaced, slice_of, stub

import torch

# Imported at the top of files, and needed by nothing that is asked here; only what is not installed is stubbed.
IDLE = ["ray", "vllm", "deepspeed", "peft", "flash_attn", "ring_flash_attn", "torchdata", "aiohttp", "einops", "pylatexenc"]

SCORES = ["logprobs", "entropy", "score", "model_score"]
with stub(IDLE), _library.quietly():
    openrlhf = _library.Library("openrlhf", "OpenRLHF", known=("0.11.2",))
    utils = openrlhf.part("models.utils", ["kl", "token_rewards"])
    Actor = openrlhf.part("models.actor:Actor", [*SCORES, "sft_loss", "preference_step", "train_step"])
    policy = openrlhf.part("trainer.ray.ppo_actor", ["loss", "train_step"])
    PolicyLoss = openrlhf.part("models.loss:PolicyLoss", ["loss", "train_step"])
    normalised = openrlhf.part("utils.loss_utils:iter_grad_accum_global_norm", ["loss", "sft_loss", "train_step"])
    Experience = openrlhf.part("trainer.ppo_utils.experience:Experience", ["loss", "advantages", "whiten"])
    makers = openrlhf.part("trainer.ppo_utils.experience_maker", ["advantages", "gae", "whiten"])
    samples = openrlhf.part("trainer.ppo_utils.samples_generator:SamplesGenerator", ["trajectory"])
    SFTDataset = openrlhf.part("datasets.sft_dataset:SFTDataset", ["tokenize", "collate"])
    RewardDataset = openrlhf.part("datasets.reward_dataset:RewardDataset", ["preference", "preference_step"])
    sft = openrlhf.part("trainer.sft_trainer", ["sft_loss", "train_step"])
    SFTLoss = openrlhf.part("models.loss:SFTLoss", ["sft_loss", "train_step"])
    dpo = openrlhf.part("trainer.dpo_trainer", ["preference", "preference_loss", "preference_step"])
    DPOLoss = openrlhf.part("models.loss:DPOLoss", ["preference_loss", "preference_step"])

from lossproof.adapters.common._openrlhf import Idle, Rows, Strategy, Tracks, tree  # noqa: E402
from lossproof.adapters.common._ranks import Network  # noqa: E402
from lossproof.adapters.common._verl import stepped  # noqa: E402

BETA = 0.04  # of the KL in the loss; any value but 0 shows it
ENTROPY_COEF = 0.01
DPO_BETA = 0.1  # OpenRLHF's default

# OpenRLHF's names in the words of the protocol: what is subtracted from a reward, and what divides it.
ESTIMATORS = {
    "group_norm": {
        "advantage_baseline": "group-mean",
        "advantage_scaling": "group",
        "advantage_ddof": 1,
        "advantage_epsilon": 1e-9,
    },
    "rloo": {"advantage_baseline": "leave-one-out", "advantage_scaling": "none"},
    "dr_grpo": {"advantage_baseline": "group-mean", "advantage_scaling": "none"},
    "flash_reinforce": {"advantage_baseline": "batch-mean", "advantage_scaling": "none"},
    # Normalised over tokens with their number, under a floor of the variance: formulas of their own.
    "reinforce_baseline": {"own_formulas": ["advantages"], "advantage_baseline": "group-mean"},
    "reinforce": {"own_formulas": ["advantages"], "advantage_baseline": "batch-mean"},
}
AGGREGATIONS = {name: {"loss_aggregation": name} for name in ("token-mean", "seq-mean-token-mean")}
POLICIES = {
    "ppo": {"ratio_level": "token", "policy_objective": "clip", "log_ratio_clamp": 20.0},
    "gspo": {"ratio_level": "sequence", "policy_objective": "clip", "loss_aggregation": "seq-mean-token-mean"},
}
TARGETS = {"multiturn": {"sft_target": "assistant"}, "last": {"sft_target": "last-assistant"}}
OBJECTIVES = {"dpo": {"preference_objective": "dpo"}, "ipo": {"preference_objective": "ipo", "own_formulas": ["preference_loss"]}}


def chosen(variable, table):
    name = os.environ.get(variable) or next(iter(table))
    return name if name in table else stop("%s is one of %s" % (variable, ", ".join(table)))


ESTIMATOR = chosen("LOSSPROOF_ADVANTAGE", ESTIMATORS)
AGGREGATION = chosen("LOSSPROOF_LOSS", AGGREGATIONS)
POLICY = chosen("LOSSPROOF_POLICY", POLICIES)
DATA = chosen("LOSSPROOF_DATA", TARGETS)
OBJECTIVE = chosen("LOSSPROOF_OBJECTIVE", OBJECTIVES)

FOLDER = tokenizer_folder()
tokenizer = load_tokenizer(FOLDER)
tokens = declared_tokens(tokenizer)
UNLIMITED = 1 << 20


def stand_in(kind, **attributes):
    """An object of this class that was never initialised, with these attributes."""
    made = object.__new__(kind)
    made.__dict__.update(attributes)
    return made


# Text


def data_set(rows):
    """SFTDataset of these rows, in the form that LOSSPROOF_DATA names."""
    keys = {"input_key": "input", "output_key": None if DATA == "multiturn" else "output"}
    args = tree(data={**keys, "apply_chat_template": True})
    return SFTDataset(
        Rows(rows), tokenizer, UNLIMITED, Strategy(args), num_processors=1, multiturn=DATA == "multiturn"
    )


def row_of(messages):
    if len(messages) < 2 or messages[-1]["role"] != "assistant":
        raise Reject("a row of SFTDataset is a prompt and, last, the assistant's message")
    if DATA == "multiturn":
        return {"input": messages}
    return {"input": messages[:-1], "output": messages[-1:]}


@lossproof.op(route=["sft"], chat_template=True)
def tokenize(messages, add_generation_prompt, chat_template=None):
    with _library.template_of(tokenizer, chat_template):
        if add_generation_prompt:
            # Any answer: the prompt is rendered without it.
            data = data_set([row_of([*messages, {"role": "assistant", "content": "yes"}])])
            return {"input_ids": tokenizer(data.prompts[0], add_special_tokens=False)["input_ids"]}
        data = data_set([row_of(messages)])
        if not len(data):
            raise Reject("SFTDataset leaves this row out: its prompt or its answer is empty")
        ids, _, mask = data[0]
    return {"input_ids": ids[0], "labels": labels_of(ids, mask)[0]}


def labels_of(ids, mask):
    """SFTTrainer reads the mask at the position that predicts a token."""
    labels = torch.full_like(ids, -100)
    labels[:, 1:] = torch.where(mask[:, :-1].bool(), ids[:, 1:], -100)
    return labels


def predicting(labels):
    """The mask of SFTDataset for these labels: 1 where the token behind is trained."""
    return torch.nn.functional.pad((labels[:, 1:] != -100).float(), (0, 1))


@lossproof.op
def collate(input_ids, labels, pad_token_id):
    if pad_token_id != tokens["pad_token_id"]:
        raise Reject("this trainer's collator pads with %d" % tokens["pad_token_id"])
    if any(row and row[0] != -100 for row in labels):
        raise Reject("OpenRLHF's masks stand where a token is predicted, and nothing predicts the first of a row")
    items = []
    for ids, row in zip(input_ids, labels):
        track = torch.tensor([ids])
        items.append((track, torch.ones_like(track), predicting(torch.tensor([row]))))
    ids, attention, mask = stand_in(SFTDataset, tokenizer=tokenizer).collate_fn(items)
    return {"input_ids": ids, "attention_mask": attention, "labels": labels_of(ids, mask)}


@lossproof.op(after_stop="padding")
def trajectory(prompt_ids, turns, advantage):
    """SamplesGenerator's Experience of what its agent executor hands over: all ids, and where the policy's are."""
    ids, spans, logprobs = list(prompt_ids), [], [0.0] * len(prompt_ids)
    for turn in turns:
        if turn["role"] == "assistant":
            spans.append((len(ids), len(ids) + len(turn["ids"])))
        logprobs += turn["logprobs"] if turn["role"] == "assistant" else [0.0] * len(turn["ids"])
        ids += turn["ids"]
    response = {
        "observation_tokens": ids,
        "action_ranges": spans,
        "rollout_log_probs": logprobs,
        "prompt": "",
        "label": "",
        "reward": advantage,
        "scores": advantage,
        "truncated": turns[-1]["finish_reason"] == "length",
    }
    made = stand_in(samples, tokenizer=tokenizer)._process_response_into_experience(response, max_len=UNLIMITED)
    mask = [0, *made.action_mask[0].tolist()]
    return {
        "input_ids": made.sequences,
        "loss_mask": [mask],
        "logprobs": [[0.0, *made.rollout_log_probs[0].tolist()]],
    }


# Scores


def acting(model, temperature=1.0):
    made = Actor(model, temperature=temperature).eval()
    made.packing_samples = False  # set where Actor loads its model itself
    return made


def scores(actor, ids, attention):
    """(log-probabilities, entropies), (B, T - 1), of every token behind the first."""
    with torch.no_grad():
        found, output = actor(ids, attention[:, 1:], attention_mask=attention, return_output=True, return_entropy=True)
    return found, output.entropy


def of_logits(input_ids, attention_mask, logits, temperature=1.0):
    return scores(acting(Table(torch.tensor(logits)), temperature), torch.tensor(input_ids), torch.tensor(attention_mask))


@lossproof.op(temperature=True)
def logprobs(input_ids, attention_mask, logits, temperature):
    return {"logprobs": of_logits(input_ids, attention_mask, logits, temperature)[0]}


@lossproof.op
def entropy(input_ids, attention_mask, logits):
    return {"entropy": of_logits(input_ids, attention_mask, logits)[1]}


def batch_of(prompt_ids, completion_ids):
    """(ids, attention mask, mask of the tokens that predict a completion's): rows as Experience.concat_experiences pads them."""
    rows = [[*prompt, *completion] for prompt, completion in zip(prompt_ids, completion_ids)]
    if any(not prompt for prompt in prompt_ids):
        raise Reject("OpenRLHF has no rows without a prompt")
    width = max(map(len, rows))
    ids = torch.tensor([row + [tokens["pad_token_id"]] * (width - len(row)) for row in rows])
    attention = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    action = torch.zeros_like(attention[:, 1:])
    for row, (prompt, completion) in enumerate(zip(prompt_ids, completion_ids)):
        action[row, len(prompt) - 1 : len(prompt) - 1 + len(completion)] = 1
    return ids, attention, action


def of_completions(actor, prompt_ids, completion_ids):
    ids, attention, action = batch_of(prompt_ids, completion_ids)
    return [[row[on].tolist() for row, on in zip(track, action.bool())] for track in scores(actor, ids, attention)]


OWN = tiny_model(len(tokenizer)).eval()


@lossproof.op
def score(prompt_ids, completion_ids):
    return {"logprobs": of_completions(acting(OWN), prompt_ids, completion_ids)[0]}


@lossproof.op(temperature=True, reference=True)
def model_score(model_path, prompt_ids, completion_ids, temperature, reference_path=None):
    found = of_completions(acting(frozen(model_path), temperature), prompt_ids, completion_ids)
    answer = dict(zip(("logprobs", "entropy"), found))
    if reference_path is not None:
        reference = acting(frozen(reference_path), temperature)
        answer["ref_logprobs"] = of_completions(reference, prompt_ids, completion_ids)[0]
    return answer


@lossproof.op(kl_estimator=["k1", "k2", "k3"])
def kl(logprobs, ref_logprobs, kl_estimator="k3"):
    return {"kl": utils.compute_approx_kl(torch.tensor(logprobs), torch.tensor(ref_logprobs), kl_estimator=kl_estimator)}


# Advantages


@lossproof.op
def token_rewards(scores, kl, completion_mask, kl_coef):
    mask = torch.tensor(completion_mask)
    if not mask.any(1).all():
        raise Reject("OpenRLHF has a token of the policy's in every row")
    return {"rewards": utils.compute_reward(torch.tensor(scores), kl_coef, torch.tensor(kl), action_mask=mask)}


def making(estimator, group_size):
    """(RemoteExperienceMaker, its arguments) of this estimator."""
    args = tree(
        rollout={"n_samples_per_prompt": group_size},
        reward={"clip_range": None},
        algo={"advantage": {"estimator": estimator, "gamma": 1.0, "lambd": 1.0, "no_std_norm": False}},
    )
    maker = stand_in(
        makers.RemoteExperienceMaker,
        strategy=Strategy(args),
        args=args,
        advantage_estimator=estimator,
        kl_ctl=tree(value=0.0),
    )
    return maker, args


@lossproof.op
def advantages(rewards, group_ids):
    """A response of one token a row, without KL: what the estimator says of it is the row's advantage. OpenRLHF's rows of a group
    stand side by side; the answer goes back to the order of the question."""
    sizes = {group_ids.count(group) for group in group_ids}
    if len(sizes) != 1:
        raise Reject("OpenRLHF has n_samples_per_prompt rows in every group")
    order = sorted(range(len(rewards)), key=lambda row: group_ids[row])
    experience = Experience(
        rewards=torch.tensor([rewards[row] for row in order]),
        index=list(range(len(rewards))),
        kl=torch.zeros(len(rewards), 1),
        action_mask=torch.ones(len(rewards), 1),
    )
    maker, _ = making(ESTIMATOR, sizes.pop())
    (made,) = maker.compute_advantages_and_returns([experience])
    back = dict(zip(order, made.advantages[:, 0].tolist()))
    return {"advantages": [back[row] for row in range(len(rewards))]}


@lossproof.op
def gae(rewards, values, completion_mask, gamma, lam):
    """Before the whitening, which is op whiten."""
    maker, _ = making("gae", 1)
    tracks = (torch.tensor(track) for track in (values, rewards, completion_mask))
    found, returns = maker.get_advantages_and_returns(*tracks, gamma, lam)
    return {"advantages": found, "returns": returns}


@lossproof.op
def whiten(values, completion_mask):
    _, args = making("gae", 1)
    experience = Experience(advantages=torch.tensor(values), action_mask=torch.tensor(completion_mask))
    return {"values": whitened(args, [experience])[0].advantages}


# Losses


def policy_trainer(strategy, settings, entropy_coef):
    """ActorPPOTrainer with these settings, in the words of the protocol."""
    given = {"kl_coef": BETA, "clip_low": 0.2, "clip_high": 0.2, **settings}
    args = tree(
        actor={"entropy_coef": entropy_coef},
        algo={
            "kl": {
                "use_loss": given["kl_coef"] != 0,
                "init_coef": given["kl_coef"],
                "estimator": "k3",
                "unbiased_gradient": False,
            }
        },
        train={"dynamic_batch_enable": False},
    )
    strategy.args = args
    made = stand_in(
        policy.ActorPPOTrainer,
        strategy=strategy,
        args=args,
        aux_loss=False,
        ema_model=None,
        replay_buffer=None,
        actor_optim=None,
        actor_scheduler=tree(get_last_lr=lambda: [0.0]),
        actor_loss_fn=PolicyLoss(
            given["clip_low"], given["clip_high"], token_level_loss=AGGREGATION == "token-mean", policy_loss_type=POLICY
        ),
    )
    return made, given["kl_coef"]


def trained(actor, experiences, strategy, settings, entropy_coef):
    """One optimiser step of one rank: training_step of each micro-batch, as ppo_train calls it. Returns the loss."""
    trainer, kl_coef = policy_trainer(strategy, settings, entropy_coef)
    trainer.actor = actor
    counted = normalised(experiences, strategy, len(experiences), lambda each: each.action_mask)
    for step, (experience, info) in enumerate(counted):
        trainer.training_step(experience, kl_coef, step, info)
    return strategy.total


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
    unknown = [name for name in settings or {} if name not in KNOBS]
    if unknown:
        raise Reject("no setting %s; there are %s" % (unknown[0], ", ".join(KNOBS)))
    leaf = torch.tensor(logprobs).requires_grad_(True)
    old, ref, mask = (torch.tensor(track) for track in (old_logprobs, ref_logprobs, completion_mask))
    actor = Tracks(leaf, None if entropy is None else torch.tensor(entropy))
    spread = torch.tensor(advantages)[:, None] * torch.ones_like(leaf)

    def experience(rows):
        ids = torch.zeros(len(rows), leaf.size(1) + 1, dtype=torch.long)
        ids[:, 0] = torch.tensor(rows)
        return Experience(
            sequences=ids,
            attention_mask=torch.ones_like(ids),
            action_mask=mask[rows],
            action_log_probs=old[rows],
            base_action_log_probs=ref[rows],
            advantages=spread[rows],
        )

    total = over_ranks(
        len(old), micro_batches, ranks, lambda parts: trained(
            actor, [experience(part) for part in parts], Strategy(micro_batches=len(parts)), settings or {}, ENTROPY_COEF
        )
    )
    slope = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad / len(ranks or [0])
    return {"loss": total, "loss_weights": slope}


def over_ranks(count, micro_batches, ranks, run):
    """The mean over ranks of run(their micro-batches). DeepSpeed has as many of them on each rank."""
    everyone = ranks or [list(range(count))]
    parts = [[part for part in ([row for row in part if row in rows] for part in micro_batches) if part] for rows in everyone]
    if len({len(own) for own in parts}) != 1 or not parts[0]:
        raise Reject("DeepSpeed has as many micro-batches on each rank")
    network = Network(len(everyone))
    return sum(network.play([lambda own=own: run(own) for own in parts])) / network.size


def fitted(model, batches, strategy):
    """One optimiser step of SFTTrainer.fit on these micro-batches: (ids, attention mask, loss mask). Returns the loss."""
    trainer = stand_in(
        sft.SFTTrainer,
        model=model,
        strategy=strategy,
        train_dataloader=batches,
        loss_fn=SFTLoss(),
        aux_loss=False,
        args=tree(model={"aux_loss_coef": 0.0}),
        optimizer=None,
        scheduler=tree(get_last_lr=lambda: [0.0]),
        save_logs_and_checkpoints=lambda *_: None,
    )
    supervised_step(
        self=trainer,
        args=trainer.args,
        engine=tree(global_steps=0),
        window=[],
        step_bar=Idle(),
        device=torch.device("cpu"),
        accumulated_gradient=len(batches),
        samples_per_micro_batch=1,
        consumed_samples=0,
        loss_sum=0.0,
    )
    return strategy.total


@lossproof.op(micro_batches=True, ranks=True, layout={"alignment": "token", "span": "row"})
def sft_loss(input_ids, attention_mask, labels, logits, micro_batches, ranks=None):
    from lossproof.adapters.common._head import weights_of

    ids, real, targets = (torch.tensor(rows) for rows in (input_ids, attention_mask, labels))
    mask = predicting(targets)

    def step(leaf):
        def run(parts):
            batches = [tuple(track[part][:, None] for track in (ids, real, mask)) for part in parts]
            model = acting(Table([leaf[part] for part in parts]))
            return fitted(model, batches, Strategy(micro_batches=len(batches)))

        total = over_ranks(len(ids), micro_batches, ranks, run)
        if leaf.grad is not None:
            leaf.grad /= len(ranks or [0])
        return total

    total, weights = weights_of(step, torch.tensor(logits), ids, targets)
    return {"loss": total, "loss_weights": weights, "trained_tokens": int((targets[:, 1:] != -100).sum())}


@lossproof.op
def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages=None):
    """SFTTrainer's or ActorPPOTrainer's step with Actor's own forward pass; what the optimiser does is plain descent."""
    model = frozen(model_path).requires_grad_(True)
    actor = acting(model)
    ids, attention, action = batch_of(prompt_ids, completion_ids)
    with replaced(actor, train=lambda *_: actor):
        if advantages is None:
            mask = torch.nn.functional.pad(action.float(), (0, 1))
            total = fitted(actor, [(ids[:, None], attention[:, None], mask[:, None])], Strategy())
        else:
            with torch.no_grad():
                old = actor(ids, action, attention_mask=attention)
            experience = Experience(
                sequences=ids,
                attention_mask=attention,
                action_mask=action,
                action_log_probs=old,
                advantages=torch.tensor(advantages)[:, None] * action,
            )
            total = trained(actor, [experience], Strategy(), {"kl_coef": 0.0}, None)
    stepped(model, learning_rate, saved_path)
    model.requires_grad_(False)
    return {"loss": total}


# Preferences


def preference_trainer():
    return stand_in(dpo.DPOTrainer, tokenizer=tokenizer, strategy=Strategy(), loss_fn=DPOLoss(DPO_BETA, 0.0, OBJECTIVE == "ipo"))


def paired(prompt_ids, chosen_ids, rejected_ids):
    """RewardDataset's batch: (chosen ids, mask, rejected ids, mask, lengths of the prompts)."""
    items = []
    for prompt, better, worse in zip(prompt_ids, chosen_ids, rejected_ids):
        rows = [torch.tensor([[*prompt, *half]], dtype=torch.long) for half in (better, worse)]
        items.append((rows[0], torch.ones_like(rows[0]), rows[1], torch.ones_like(rows[1]), len(prompt)))
    return stand_in(RewardDataset, tokenizer=tokenizer, is_dpo=True).collate_fn(items)


@lossproof.op
def preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """The batch that goes into the model, and where _get_batch_logps sums: the slope of its sums."""
    if pad_token_id != tokens["pad_token_id"]:
        raise Reject("this trainer's collator pads with %d" % tokens["pad_token_id"])
    trainer = preference_trainer()
    ids, attention, lengths = trainer.concatenated_inputs(*paired(prompt_ids, chosen_ids, rejected_ids))
    leaf = torch.zeros(ids[:, 1:].shape, requires_grad=True)
    trainer._get_batch_logps(leaf, attention, lengths)[0].sum().backward()
    mask = torch.nn.functional.pad(leaf.grad, (1, 0)).long()
    halves = {"input_ids": ids, "attention_mask": attention, "mask": mask}
    return {
        "%s_%s" % (half, name): track.chunk(2)[at]
        for at, half in enumerate(("chosen", "rejected"))
        for name, track in halves.items()
    }


class Saying:
    """A model whose log-probabilities are given: chosen rows, then rejected ones, behind a prompt of one token."""

    def __init__(self, rows):
        self.rows = rows

    def __call__(self, input_ids, **_):
        track = torch.zeros(input_ids.size(0), input_ids.size(1) - 1)
        for row, values in zip(track, self.rows):
            row[: len(values)] = torch.tensor(values)
        return track, {}


@lossproof.op
def preference_loss(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs):
    prompts = [[0]] * len(chosen_logprobs)
    batch = paired(prompts, *([[0] * len(row) for row in half] for half in (chosen_logprobs, rejected_logprobs)))
    trainer = preference_trainer()
    policy = trainer.concatenated_forward(Saying(chosen_logprobs + rejected_logprobs), *batch)[:2]
    reference = trainer.concatenated_forward(Saying(ref_chosen_logprobs + ref_rejected_logprobs), *batch)[:2]
    total, better, worse = trainer.loss_fn(*policy, *reference)
    return {"loss": total, "chosen_rewards": better, "rejected_rewards": worse}


@lossproof.op
def preference_step(model_path, reference_path, prompt_ids, chosen_ids, rejected_ids, learning_rate, saved_path):
    """concatenated_forward of policy and reference, as DPOTrainer.fit calls it; the step itself is plain descent."""
    model = frozen(model_path).requires_grad_(True)
    trainer, batch = preference_trainer(), paired(prompt_ids, chosen_ids, rejected_ids)
    policy = trainer.concatenated_forward(acting(model), *batch)[:2]
    with torch.no_grad():
        reference = trainer.concatenated_forward(acting(frozen(reference_path)), *batch)[:2]
    total = trainer.loss_fn(*policy, *reference)[0]
    total.backward()
    stepped(model, learning_rate, saved_path)
    model.requires_grad_(False)
    return {"loss": total.detach()}


def sliced(ops, *arguments, **named):
    """slice_of, or what is said of these ops where this version has not these lines."""
    try:
        return slice_of(*arguments, **named)
    except (TypeError, ValueError) as absent:
        for op in ops:
            openrlhf.lacks.setdefault(op, str(absent))


whitened = sliced(
    ["whiten"],
    makers,
    "RemoteExperienceMaker.compute_advantages_and_returns",
    begin='if args.algo.advantage.estimator in ["gae", "reinforce", "reinforce_baseline"]:',
    end="return experiences",
    inputs=["args", "experiences"],
    outputs="return",
)
supervised_step = sliced(
    ["sft_loss", "train_step"],
    sft,
    "SFTTrainer.fit",
    begin="def sft_loss_mask(batch):",
    end="for batch in self.train_dataloader:",
    inputs=[
        "self",
        "args",
        "engine",
        "window",
        "step_bar",
        "device",
        "accumulated_gradient",
        "samples_per_micro_batch",
        "consumed_samples",
        "loss_sum",
    ],
    outputs="loss_sum",
)

SEMANTICS = {
    "stop_token_in_mask": True,
    "kl_estimator": "k3",
    "kl_clamp": 10.0,
    "kl_placement": "loss",
    "kl_coef": BETA,
    "clip_low": 0.2,
    "clip_high": 0.2,
    "dual_clip": None,
    "entropy_coef": ENTROPY_COEF,
    "loss_normalization": "global",
    "sft_aggregation": "token-mean",
    "whiten_mean": True,
    "whiten_ddof": 0,
    "temperature_in_scoring": True,
    "preference_beta": DPO_BETA,
    "preference_label_smoothing": 0.0,
}

if __name__ == "__main__":
    tables = (ESTIMATORS[ESTIMATOR], AGGREGATIONS[AGGREGATION], POLICIES[POLICY], TARGETS[DATA], OBJECTIVES[OBJECTIVE])
    semantics = {**SEMANTICS, **{name: value for table in tables for name, value in table.items()}}
    semantics["own_formulas"] = sorted(name for table in tables for name in table.get("own_formulas", ()))
    openrlhf.serve(
        "openrlhf",
        layout={"alignment": "predictor", "span": "row"},
        semantics=semantics,
        tokens=tokens,
        tokenizer=FOLDER,
    )

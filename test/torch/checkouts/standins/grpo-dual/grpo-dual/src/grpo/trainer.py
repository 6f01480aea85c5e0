"""The trainer of the stand-in: fine-tuning on answers, then reinforcement by groups for two tasks at once."""

import os
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.optim import AdamW
from transformers import LogitsProcessorList

SYSTEM = "You answer briefly."


class Config:
    BASE_MODEL = "nobody/nothing"
    OUTPUT_DIR = Path("/nowhere/grpo") / datetime.now().strftime("%Y%m%d_%H%M%S")
    OUTPUT_DIR.mkdir(parents=True, exist_ok=True)
    USE_LORA = True
    MAX_LENGTH = 896
    GRPO_STEPS = 100
    GRPO_LR = 1e-6
    GRPO_BATCH_SIZE = 2
    K_ROLLOUTS = 4
    MU_UPDATES = 1
    GRADIENT_ACCUMULATION_STEPS = 2
    ENTROPY_COEF = 0.01
    KL_COEF = 0.05
    PPO_CLIP_EPS = 0.1
    MAX_NEW_TOKENS_TRAIN = 96
    PRESENCE_PENALTY = 0.3
    FREQUENCY_PENALTY = 0.2


config = Config()


@dataclass
class Sample:
    id: str
    task: str
    prompt: str
    target: str = None
    meta: dict = field(default_factory=dict)


class TrainingMetrics:
    def __init__(self, output_dir):
        self.file = open(output_dir / "metrics.jsonl", "a")

    def record_step(self, step, metrics):
        self.file.write("%d %s\n" % (step, metrics))


class GradientConflictMonitor:
    def update(self, grad_f, grad_h, step):
        return {"use_conflict_resolution": False}


class BranchedKLController:
    def __init__(self, beta_f_init, beta_h_init, window_size=20):
        self.beta_f, self.beta_h = beta_f_init, beta_h_init

    def get_beta_f(self):
        return self.beta_f

    def get_beta_h(self):
        return self.beta_h


class PresencePenaltyProcessor(torch.nn.Module):
    def __init__(self, penalty):
        super().__init__()
        self.penalty, self.prompt_len = penalty, None

    def counted(self, input_ids, size):
        """(B, V): how often each id was generated; the first call is made behind the prompt."""
        if self.prompt_len is None:
            self.prompt_len = input_ids.shape[-1]
        said = input_ids[:, self.prompt_len :]
        return torch.zeros(len(said), size).scatter_add_(1, said, torch.ones_like(said, dtype=torch.float))

    def forward(self, input_ids, scores):
        return scores - self.penalty * (self.counted(input_ids, scores.size(-1)) > 0)


class FrequencyPenaltyProcessor(PresencePenaltyProcessor):
    def forward(self, input_ids, scores):
        return scores - self.penalty * self.counted(input_ids, scores.size(-1))


def build_safe_logits_processors(step_counter=None, eos_token_ids=None):
    processors = LogitsProcessorList()
    processors.append(PresencePenaltyProcessor(config.PRESENCE_PENALTY))
    processors.append(FrequencyPenaltyProcessor(config.FREQUENCY_PENALTY))
    return processors


def get_eos_token_ids(tokenizer):
    return [tokenizer.eos_token_id]


def load_model_and_tokenizer():
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(config.BASE_MODEL)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "left"
    model = AutoModelForCausalLM.from_pretrained(config.BASE_MODEL)
    if config.USE_LORA:
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(model, LoraConfig(r=8))
    return model, AutoModelForCausalLM.from_pretrained(config.BASE_MODEL), tokenizer, torch.device("cpu")


def apply_chat_template(tokenizer, prompt, system_message=None, answer=None):
    messages = [{"role": "system", "content": system_message}] if system_message else []
    messages.append({"role": "user", "content": prompt})
    if answer is not None:
        messages.append({"role": "assistant", "content": answer})
    return tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=answer is None)


class Said(str):
    """A completion's text, and the ids that were sampled."""

    ids = None


def generate_candidates_batch(model, tokenizer, device, prompts, k, max_new_tokens=None, step=None):
    formatted_prompts = [apply_chat_template(tokenizer, prompt, SYSTEM) for prompt in prompts]
    eos_ids = get_eos_token_ids(tokenizer)
    rows = [prompt for prompt in formatted_prompts for _ in range(k)]
    inputs = tokenizer(rows, return_tensors="pt", padding=True, add_special_tokens=False).to(device)
    with torch.no_grad():
        out = model.generate(
            **inputs,
            max_new_tokens=max_new_tokens or config.MAX_NEW_TOKENS_TRAIN,
            do_sample=True,
            logits_processor=build_safe_logits_processors(eos_token_ids=eos_ids),
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=eos_ids,
        )
    starts = [inputs["input_ids"].shape[1]] * len(rows)
    texts = []
    for i, start in enumerate(starts):
        said = out[i, start:].tolist()
        stop = next((at + 1 for at, id in enumerate(said) if id in eos_ids), len(said))
        text = Said(tokenizer.decode(said[:stop]))
        text.ids = said[:stop]
        texts.append(text)
    grouped = [texts[i : i + k] for i in range(0, len(texts), k)]
    lengths = [[len(text.ids) for text in group] for group in grouped]
    truncated = [[text.ids[-1:] == [] or text.ids[-1] not in eos_ids for text in group] for group in grouped]
    return grouped, lengths, inputs["attention_mask"].sum(1).tolist()[::k], truncated, formatted_prompts


def tokenize_sft_pair(tokenizer, prompt, target, device):
    before = apply_chat_template(tokenizer, prompt, SYSTEM)
    whole = apply_chat_template(tokenizer, prompt, SYSTEM, answer=target)
    before = os.path.commonprefix([before, whole])  # a template may write more behind a prompt than before an answer
    behind = whole[len(before) :]
    ids, answer = (tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"] for text in (before, behind))
    row = torch.cat([ids, answer], dim=1)
    labels = row.clone()
    labels[:, : ids.size(1)] = -100
    stops = [at for at, id in enumerate(row[0].tolist()) if id == tokenizer.eos_token_id and at >= ids.size(1)]
    if stops:
        labels[:, stops[-1] + 1 :] = -100
    return {"input_ids": row.to(device), "attention_mask": torch.ones_like(row).to(device), "labels": labels.to(device)}


def _tokenize_concat(tokenizer, prompts, responses, response_lens, device):
    encode = lambda text: tokenizer.encode(str(text), add_special_tokens=False)  # noqa: E731
    answers = [encode(each) if getattr(each, "ids", None) is None else each.ids for each in responses]
    rows = [encode(prompt) + answer for prompt, answer in zip(prompts, answers)]
    full = dict(tokenizer.pad({"input_ids": rows}, return_tensors="pt"))
    T = full["input_ids"].shape[1]
    comp_mask = torch.zeros(len(rows), T - 1)
    for i, length in enumerate(response_lens):
        end = T
        comp_mask[i, end - length - 1 : end - 1] = 1.0
    return full, comp_mask


def compute_group_advantages(rewards, k):
    groups = rewards.view(-1, k)
    centred = groups - groups.mean(dim=1, keepdim=True)
    return (centred / groups.std(dim=1, keepdim=True).clamp_min(1e-6)).view(-1)


def mean_of(values, mask):
    """(B,): of each row's own tokens, 0 where it has none."""
    return torch.where(mask > 0, values, torch.zeros(())).sum(1) / mask.sum(1).clamp_min(1.0)


def grpo_train(model, base_model, tokenizer, device, dataset, judge, pareto):
    metrics_logger = TrainingMetrics(config.OUTPUT_DIR)
    kl_controller = BranchedKLController(beta_f_init=config.KL_COEF, beta_h_init=config.KL_COEF)
    conflict_monitor = GradientConflictMonitor()
    trainable = [p for p in model.parameters() if p.requires_grad]
    opt = AdamW(trainable, lr=config.GRPO_LR)
    for step in range(config.GRPO_STEPS):
        batch = dataset.get_balanced_batch(config.GRPO_BATCH_SIZE)
        tasks = [s.task for s in batch]
        cand_by_sample, lengths_by_sample, _, truncated_by_sample, formatted_prompts = generate_candidates_batch(
            model, tokenizer, device, [s.prompt for s in batch], config.K_ROLLOUTS, step=step
        )
        all_prompts, all_resps, all_lengths, idx_map = [], [], [], []
        for i, s in enumerate(batch):
            all_prompts += [formatted_prompts[i]] * config.K_ROLLOUTS
            all_resps += cand_by_sample[i]
            all_lengths += lengths_by_sample[i]
            idx_map += [i] * config.K_ROLLOUTS
        scored = [judge.evaluate(batch[i], text)["final"] for i, text in zip(idx_map, all_resps)]
        full_tok, comp_mask = _tokenize_concat(tokenizer, all_prompts, all_resps, all_lengths, device)
        adv = compute_group_advantages(torch.tensor(scored), k=config.K_ROLLOUTS)
        with torch.no_grad():
            out_ref = base_model(input_ids=full_tok["input_ids"], attention_mask=full_tok.get("attention_mask"))
            ref_logp = F.log_softmax(out_ref.logits[:, :-1, :], dim=-1)
            ref_lp = ref_logp.gather(-1, full_tok["input_ids"][:, 1:].unsqueeze(-1)).squeeze(-1)
        with torch.no_grad():
            out_old = model(input_ids=full_tok["input_ids"], attention_mask=full_tok.get("attention_mask"))
            old_logp = F.log_softmax(out_old.logits[:, :-1, :], dim=-1)
            old_lp = old_logp.gather(-1, full_tok["input_ids"][:, 1:].unsqueeze(-1)).squeeze(-1)
        task_mask_f = torch.tensor([tasks[g] == "fairness" for g in idx_map])
        task_mask_h = ~task_mask_f
        nan_inf_hits = 0
        is_first_microbatch = step % config.GRADIENT_ACCUMULATION_STEPS == 0
        loss_fair = torch.tensor(0.0, device=device)
        loss_halu = torch.tensor(0.0, device=device)
        for _ in range(config.MU_UPDATES):
            out_cur = model(input_ids=full_tok["input_ids"], attention_mask=full_tok.get("attention_mask"))
            cur_logp = F.log_softmax(out_cur.logits[:, :-1, :], dim=-1)
            cur_lp = cur_logp.gather(-1, full_tok["input_ids"][:, 1:].unsqueeze(-1)).squeeze(-1)
            entropy = mean_of(-(cur_logp.exp() * cur_logp).sum(-1), comp_mask)
            ratio = torch.exp(mean_of(cur_lp - old_lp, comp_mask))
            clip_ratio = ratio.clamp(1 - config.PPO_CLIP_EPS, 1 + config.PPO_CLIP_EPS)
            surr = torch.minimum(ratio * adv, clip_ratio * adv) * (comp_mask.sum(1) > 0)
            delta = ref_lp - cur_lp
            kl = mean_of(torch.exp(delta) - delta - 1.0, comp_mask)
            row_loss = -surr + kl_controller.get_beta_f() * kl - config.ENTROPY_COEF * entropy
            row_loss = row_loss / config.GRADIENT_ACCUMULATION_STEPS
            loss_fair, loss_halu = row_loss[task_mask_f].mean(), row_loss[task_mask_h].mean()
            if not torch.isfinite(loss_fair + loss_halu):
                nan_inf_hits += 1
                continue
            grads = torch.autograd.grad(0.5 * (loss_fair + loss_halu), trainable)
            conflict_monitor.update(grads, grads, step)
            for parameter, grad in zip(trainable, grads):
                parameter.grad = grad if is_first_microbatch or parameter.grad is None else parameter.grad + grad
        if not is_first_microbatch:
            opt.step()
        metrics_logger.record_step(step, {"loss": float(0.5 * (loss_fair + loss_halu)), "nan": nan_inf_hits})

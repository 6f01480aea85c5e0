"""Rows of SFT, pairs and rewards in plain Python, as the data side of a trainer has them; scoring in a class that knows its settings."""
import math


def collate(input_ids, labels, pad_token_id=0):
    """Padded on the left; positions count real tokens."""
    width = max(map(len, input_ids))
    ids, attention, targets, positions = [], [], [], []
    for row, own in zip(input_ids, labels):
        left = width - len(row)
        ids.append([pad_token_id] * left + row)
        attention.append([0] * left + [1] * len(row))
        targets.append([-100] * left + own)
        positions.append([0] * left + list(range(len(row))))
    return {"input_ids": ids, "attention_mask": attention, "labels": targets, "position_ids": positions}


def pack(input_ids, labels, max_length, pad_token_id=0):
    """First come, first packed; each example with positions and a number of its own."""
    rows = []
    for row, own in zip(input_ids, labels):
        row, own = row[:max_length], own[:max_length]
        if not rows or len(rows[-1]["input_ids"]) + len(row) > max_length:
            rows.append({"input_ids": [], "labels": [], "position_ids": [], "segment_ids": []})
        at = rows[-1]
        number = max(at["segment_ids"], default=0) + 1
        at["input_ids"] += row
        at["labels"] += [-100] + own[1:]
        at["position_ids"] += list(range(len(row)))
        at["segment_ids"] += [number] * len(row)
    width = max(len(at["input_ids"]) for at in rows)
    fills = {"input_ids": pad_token_id, "labels": -100, "position_ids": 0, "segment_ids": 0}
    return {key: [at[key] + [fill] * (width - len(at[key])) for at in rows] for key, fill in fills.items()}


def token_rewards(scores, kl, mask, kl_coef):
    rewards = []
    for score, own, trained in zip(scores, kl, mask):
        row = [-kl_coef * each * on for each, on in zip(own, trained)]
        places = [at for at, on in enumerate(trained) if on]
        if places:
            row[places[-1]] += score
        rewards.append(row)
    return rewards


def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta=0.1):
    """Of one pair, on log-probabilities of whole completions."""
    chosen_reward = beta * (chosen - ref_chosen)
    rejected_reward = beta * (rejected - ref_rejected)
    margin = chosen_reward - rejected_reward
    loss = max(-margin, 0.0) + math.log1p(math.exp(-abs(margin)))
    return loss, chosen_reward, rejected_reward


class Scorer:
    def __init__(self, model, settings):
        self.model = model
        self.settings = settings

    def token_logprobs(self, logits, input_ids):
        found = []
        for rows, ids in zip(logits, input_ids):
            own = []
            for row, token in zip(rows[:-1], ids[1:]):
                row = [each / self.settings.temperature for each in row]
                top = max(row)
                own.append(row[token] - top - math.log(sum(math.exp(each - top) for each in row)))
            found.append(own)
        return found

    def advantages_and_returns(self, rewards, values, mask):
        advantages, returns = [], []
        for reward, value, trained in zip(rewards, values, mask):
            row, running, after = [0.0] * len(reward), 0.0, 0.0
            for t in reversed([at for at, on in enumerate(trained) if on]):
                delta = reward[t] + self.settings.gamma * after - value[t]
                running = delta + self.settings.gamma * self.settings.gae_lambda * running
                row[t], after = running, value[t]
            advantages.append(row)
            returns.append([each + own for each, own in zip(row, value)])
        return advantages, returns

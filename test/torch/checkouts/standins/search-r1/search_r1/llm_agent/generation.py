"""The agent loop: what is sampled is acted upon, what is found stands behind it, and the two are told apart."""

import re
from dataclasses import dataclass

import requests
import torch

from verl import DataProto

ACTION = re.compile(r"<(search|answer)>(.*?)</\1>", re.DOTALL)
HELP = "\nThat was no action. A query stands in <search> and </search>, an answer in <answer> and </answer>.\n"


@dataclass
class GenerationConfig:
    max_turns: int
    max_start_length: int
    max_prompt_length: int
    max_response_length: int
    max_obs_length: int
    num_gpus: int
    no_think_rl: bool = False
    search_url: str = None
    topk: int = 3


class LLMGenerationManager:
    def __init__(self, tokenizer, actor_rollout_wg, config, is_validation=False):
        self.tokenizer, self.actor_rollout_wg, self.config = tokenizer, actor_rollout_wg, config

    def _acted(self, ids):
        """The ids of a turn up to the end of its first action."""
        ids = [id for id in ids if id != self.tokenizer.pad_token_id]
        for end in range(len(ids)):
            if ACTION.search(self.tokenizer.decode(ids[: end + 1])):
                return ids[: end + 1]
        return ids

    def _sampled(self, states, active):
        """What the policy says in each of these states that is active."""
        chosen = [row for row, on in zip(states, active) if on]
        ids, real = self._matrix(chosen, left=True)
        positions = (real.cumsum(1) - 1).clamp(min=0)
        asked = DataProto.from_dict({"input_ids": ids, "attention_mask": real, "position_ids": positions})
        said = iter(self.actor_rollout_wg.generate_sequences(asked).batch["responses"].tolist())
        return [self._acted(next(said)) if on else [] for on in active]

    def _matrix(self, rows, left=False):
        width = max(map(len, rows))
        pad = self.tokenizer.pad_token_id
        gaps = [[pad] * (width - len(row)) for row in rows]
        ids = torch.tensor([gap + row if left else row + gap for gap, row in zip(gaps, rows)], dtype=torch.long)
        ids = ids.reshape(len(rows), width)
        return ids, (ids != pad).long()

    def run_llm_loop(self, gen_batch, initial_input_ids):
        pad = self.tokenizer.pad_token_id
        prompts = initial_input_ids[:, -self.config.max_start_length :]
        states = [[id for id in row if id != pad] for row in prompts.tolist()]
        responses, written = [[] for _ in states], [[] for _ in states]
        active = torch.ones(len(states), dtype=torch.bool)
        for turn in range(self.config.max_turns + 1):
            if not active.any():
                break
            last = turn == self.config.max_turns
            said = self._sampled(states, active)
            texts = [self.tokenizer.decode(ids) for ids in said]
            observations, done, _, _ = self.execute_predictions(texts, self.tokenizer.pad_token, active, not last)
            for row, ids in enumerate(said):
                seen = observations[row] if active[row] and not last else ""
                found = self.tokenizer(seen, add_special_tokens=False)["input_ids"] if seen else []
                found = found[: self.config.max_obs_length]
                states[row] = states[row] + ids + found
                responses[row] += ids + found
                written[row] += [1] * len(ids) + [0] * len(found)
            active = active & torch.tensor([not each for each in done])
        return self._composed(prompts, responses, written)

    def _composed(self, prompts, responses, written):
        ids, real = self._matrix(responses)
        info = torch.zeros_like(real)
        for row, marks in enumerate(written):
            info[row, : len(marks)] = torch.tensor(marks)
        before = (prompts != self.tokenizer.pad_token_id).long()
        attention = torch.cat([before, real], dim=1)
        return DataProto.from_dict(
            {
                "prompts": prompts,
                "responses": ids,
                "input_ids": torch.cat([prompts, ids], dim=1),
                "attention_mask": attention,
                "info_mask": torch.cat([before, info], dim=1),
                "position_ids": (attention.cumsum(1) - 1) * attention,
            }
        )

    def execute_predictions(self, predictions, pad_token, active_mask=None, do_search=True):
        actions = [self._action(text) for text in predictions]
        queries = [content for action, content in actions if action == "search"]
        found = iter(self.batch_search(queries) if do_search else [""] * len(queries))
        steps = []
        for (action, _), active in zip(actions, active_mask):
            if action == "search":
                seen = "\n\n<information>%s</information>\n\n" % next(found).strip()
                step = (seen, 0, 1, 1)
            elif action == "answer":
                step = ("", 1, 1, 0)
            else:
                step = (HELP, 0, 0, 0)
            steps.append(step if active else ("", 1, 0, 0))
        return tuple(list(column) for column in zip(*steps))

    def _action(self, text):
        found = ACTION.search(text)
        return (found.group(1), found.group(2).strip()) if found else (None, "")

    def batch_search(self, queries):
        asked = {"queries": queries, "topk": self.config.topk, "return_scores": True}
        results = requests.post(self.config.search_url, json=asked).json()["result"]
        return ["\n".join(each["document"]["contents"] for each in result) for result in results]

// The recipes of docs/attach.md, as they are printed there, one behind the other, around a trainer that does what each is for.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { said } from '../../python/testing/script.ts';

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const TRAINER = `
import torch
from vllm import LLM
import flash_attn.bert_padding as padding

class PresencePenalty:
    def __init__(self, penalty): self.penalty, self.prompt = penalty, None
    def __call__(self, ids, scores):
        self.prompt = ids.size(1) if self.prompt is None else self.prompt
        for row, own in zip(scores, ids[:, self.prompt:]): row[own.unique()] -= self.penalty
        return scores

class Trainer:
    eps = 1e-4
    running_mean = 7.0
    def train(self, prompts):
        engine = LLM("model")
        rewards = engine.generate(prompts)
        grouped = rewards.view(-1, 4)
        advantages = (grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + self.eps)
        self.update(advantages)
    def step(self, rows):
        width = max(len(ids) for ids, _ in rows)
        batch = {"input_ids": torch.tensor([ids + [0] * (width - len(ids)) for ids, _ in rows]),
                 "labels": torch.tensor([own + [-100] * (width - len(own)) for _, own in rows])}
        self.compute_loss(None, batch).backward()
    def compute_loss(self, model, batch): return model(**batch).loss
    def update(self, model, batch):
        for row in range(2):
            part = {name: value[row : row + 1, :-1] for name, value in batch.items()}
            (self.compute_loss(model, part) / 2).backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
    def objective(self, logps, old, advantages, mask):
        ratio = (logps - old.detach()).exp()
        return -((ratio * advantages[:, None]) * mask).sum() / mask.sum()
    def whiten(self, values, mask):
        if self.running_mean is None: self.running_mean = values[mask.bool()].mean()
        return values - self.running_mean
    def prompt_ids(self, messages): return [len(m["content"]) for m in messages] + [99]
    def example(self, messages):
        prompt = self.prompt_ids(messages[:-1])
        answer = [len(messages[-1]["content"]), 2]
        return {"input_ids": prompt + answer, "labels": [-100] * len(prompt) + answer}
`;

test('each recipe runs as it is printed, and answers what the trainer computes', async () => {
  const page = readFileSync(join(PACKAGE_ROOT, 'docs', 'attach.md'), 'utf8');
  const [, section = ''] = /## Code in the middle of a method\n([\s\S]*?)\n## /.exec(page) ?? [];
  const blocks = [...section.matchAll(/```python\n([\s\S]*?)```/g)].map(([, code]) => code ?? '');
  expect(blocks).toHaveLength(8);
  const [imports = '', ...recipes] = blocks;
  const answers = await said(
    `
import torch, lossproof
${imports}
TRAINER = trainer.Trainer()
${recipes.join('\n')}
say([round(x, 3) for x in advantages(torch.tensor([0.0, 0.0, 1.0, 1.0]))["advantages"][0].tolist()])
batch = collate([[5, 6, 7], [8]], [[-100, 6, 7], [-100]])
say([batch["input_ids"].tolist(), batch["labels"].tolist()])
ids, labels = torch.tensor([[1, 0, 1, 0], [0, 1, 1, 0]]), torch.tensor([[-100, 0, 1, -100], [-100, -100, 1, -100]])
step = sft_loss(ids, labels, torch.zeros(2, 4, 2))
say([step["loss"].item(), step["trained_tokens"]])
zeros = torch.zeros(1, 2)
value = loss(zeros, zeros, torch.tensor([2.0]), torch.tensor([[1.0, 0.0]]))
say([value["loss"].item(), (value["loss_weights"] + 0.0).tolist()])
say(penalties(torch.tensor([[0, 1, 2]]), 1, torch.zeros(1, 4), 0.5)["logits"].tolist())
say([whiten(torch.tensor([1.0, 3.0]), torch.tensor([1, 1]))["values"].tolist(), TRAINER.running_mean, "step_count" in vars(TRAINER)])
chat = [{"role": "user", "content": "abc"}]
say(tokenize("sft", chat, True))
say(tokenize("sft", [*chat, {"role": "assistant", "content": "yes"}], False))
say(why(lambda: TRAINER.train([])).split(" (")[0])
`,
    { 'trainer.py': TRAINER },
    PYTHON,
  );
  expect(answers).toEqual([
    [-0.866, -0.866, 0.866, 0.866],
    [
      [
        [5, 6, 7],
        [8, 0, 0],
      ],
      [
        [-100, 6, 7],
        [-100, -100, -100],
      ],
    ],
    [expect.closeTo(Math.LN2, 4), 3],
    [-2, [[-2, 0]]],
    [[0, -0.5, -0.5, 0]],
    [[-1, 1], 7, false],
    { input_ids: [3, 99] },
    { input_ids: [3, 99, 3, 2], labels: [-100, -100, 3, 2] },
    'Stubbed: vllm.LLM was called',
  ]);
});

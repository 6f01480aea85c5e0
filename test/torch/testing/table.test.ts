// The model whose logits are given, beside a real one of transformers: the same calls, the same shapes, the same losses; and
// the gradient arrives at the logits.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { said } from '../../python/testing/script.ts';

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');

test('a Table of the logits of a real model answers as that model does', async () => {
  const answers = await said(
    `
import os
os.environ["HF_HUB_OFFLINE"] = "1"
import torch, transformers
from lossproof.testing import Table
config = transformers.Qwen2Config(vocab_size=11, hidden_size=16, intermediate_size=16, num_hidden_layers=1,
    num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, eos_token_id=1)
torch.manual_seed(0)
real = transformers.AutoModelForCausalLM.from_config(config).eval()
ids = torch.tensor([[3, 4, 5, 6], [7, 8, 9, 10]])
labels = torch.tensor([[-100, 4, 5, -100], [-100, -100, 9, 10]])
mask = torch.ones_like(ids)
with torch.no_grad():
    logits = real(input_ids=ids, attention_mask=mask).logits
table = Table(logits)
def same(**options):
    with torch.no_grad():
        one, other = real(input_ids=ids, attention_mask=mask, **options), table(input_ids=ids, attention_mask=mask, **options)
    names = ["logits"] + (["loss"] if "labels" in options else [])
    return [torch.allclose(getattr(one, n), getattr(other, n)) and torch.allclose(one[i], other[i]) and getattr(one, n).shape == other[n].shape
            for i, n in enumerate(reversed(names))]
say([same(), same(logits_to_keep=2), same(logits_to_keep=0), same(labels=labels), same(labels=labels, num_items_in_batch=7),
     same(logits_to_keep=torch.tensor([0, 2]))])
say([torch.equal(table(ids, mask, return_dict=False)[0], logits), table(ids).past_key_values, type(real(ids)).__name__ != ""])
hidden = table.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
say(torch.equal(table.get_output_embeddings()(hidden), logits) and torch.equal(table.lm_head(hidden), logits))
given = Table(logits, sampled=[[5, 1], [6]], pad_token_id=0)
say([given.generate(input_ids=ids, attention_mask=mask, max_new_tokens=9, do_sample=True).tolist(),
     given.generate(inputs=ids, return_dict_in_generate=True).sequences.shape[1],
     Table(sampled=torch.tensor([[1], [2]])).generate(ids[:1], num_return_sequences=2).tolist()])
say([given.config.pad_token_id, table.config.vocab_size, table.config.to_dict()["model_type"], str(table.device), str(table.dtype),
     table.train().training, table.eval().training])
say(why(lambda: table.generate(ids)))
say(why(lambda: given.generate(ids[:1])))
say(why(lambda: Table(logits, sampled=[[5, 1], [6]]).generate(ids)))
`,
    {},
    PYTHON,
  );
  expect(answers).toEqual([
    [[true], [true], [true], [true, true], [true, true], [true]],
    [true, null, true],
    true,
    [
      [
        [3, 4, 5, 6, 5, 1],
        [7, 8, 9, 10, 6, 0],
      ],
      6,
      [
        [3, 4, 5, 6, 1],
        [3, 4, 5, 6, 2],
      ],
    ],
    [0, 11, 'table', 'cpu', 'torch.float32', true, false],
    'ValueError: this Table does not say what it samples: Table(logits, sampled=ids)',
    'ValueError: the Table samples 2 rows, and generate() was asked for 1',
    'ValueError: rows of several lengths are sampled: Table(..., pad_token_id=...)',
  ]);
});

test('rows are found by their ids when the trainer splits, orders or crops them; else it must ask for all', async () => {
  const answers = await said(
    `
import torch
from lossproof.testing import Table
logits = torch.arange(3 * 4 * 2.0).reshape(3, 4, 2)
ids = torch.tensor([[9, 9, 5, 6], [9, 3, 4, 7], [9, 9, 5, 6]])
t = Table(logits, input_ids=ids)
at = lambda x: (x[:, 0, 0] / 8).tolist()
say([at(t(ids[[1, 0]]).logits), at(t(ids[2:]).logits), at(t(ids[:1]).logits)])
say([t(ids[:, :-1]).logits.shape[1], at(t(ids[:, :-1]).logits), (t(ids[1:2, 1:]).logits - logits[1:2, 1:]).abs().sum().item()])
say(why(lambda: t(torch.tensor([[9, 3, 4, 8]]))))
say(why(lambda: Table(logits)(ids[:1])))
say(why(lambda: t(ids[0])))
calls = Table([logits[:1], logits[1:]])
say([at(calls(ids[:1]).logits), at(calls(ids[1:]).logits), why(lambda: calls(ids))])
pairs = Table(torch.eye(10), plain=True)
say([list(pairs(ids).shape), pairs(ids)[0, 2].argmax().item()])
seen = Table(lambda ids, mask, positions: torch.stack([ids, mask], -1).float(), plain=True)
say([seen(ids, attention_mask=torch.ones_like(ids))[1, 1].tolist(), sorted(seen.calls[0])[:2]])
`,
    {},
    PYTHON,
  );
  expect(answers).toEqual([
    [[1, 0], [2], [0]],
    [3, [0, 1, 2], 0],
    'ValueError: the Table has no logits for row [9, 3, 4, 8], which is none of its input_ids: the trainer changed the ids, or pads them otherwise; a function of input_ids gives logits to any row',
    'ValueError: the Table has logits of 3 rows of 4 tokens, and the trainer asks for 1 of 4: give input_ids=, by which rows are found, or a list of logits, one a call',
    'ValueError: a Table is asked for input_ids (B, T), not of shape (4,)',
    [[0], [1, 2], 'ValueError: the Table has logits for 2 calls, and is asked once more'],
    [[3, 4, 10], 5],
    [
      [3, 1],
      ['attention_mask', 'input_ids'],
    ],
  ]);
});

test('gradients arrive at the logits that were given, through an optimiser or a recorder of backward', async () => {
  const answers = await said(
    `
import torch
from lossproof.testing import Table, recorded_backward, spy
ids = torch.tensor([[1, 0], [0, 1]])
leaf = torch.zeros(2, 2, 2, requires_grad=True)
model = Table(leaf)
say([next(model.parameters()) is leaf, len(list(Table(leaf[:1]).parameters())), leaf.grad])
class Trainer:
    def logps(self, model, ids): return torch.log_softmax(model(ids).logits, -1)
    def step(self, model, ids, weights=(1.0, 0.5)):
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        for weight in weights:
            (self.logps(model, ids)[:, :-1, 0].sum() * weight).backward()
        optimizer.step()
        return "went on"
t = Trainer()
with spy(t, "logps") as logps, recorded_backward() as losses:
    said_by = t.step(model, ids)
say([said_by, len(losses), round(losses.total.item(), 6), losses[0].reaches(leaf), losses[0].reaches(ids)])
say([leaf.grad[0].tolist(), losses[1].gradient(logps.results[1])[0].tolist()])
say(losses.gradient(torch.zeros(3, requires_grad=True)).tolist())
with recorded_backward(stop=True) as losses:
    t.step(model, ids)
    say("not reached")
say([len(losses), losses[0].leaves[0] is leaf])
with recorded_backward() as losses:
    x = torch.ones(2, requires_grad=True)
    (x * 2).backward(torch.tensor([1.0, 3.0]))
    torch.autograd.backward([x.sum(), (x * x).sum()], retain_graph=False)
say([losses.total.item(), losses.gradient(x).tolist(), x.grad.tolist(), len(losses)])
say(torch.autograd.backward.__name__)
`,
    {},
    PYTHON,
  );
  expect(answers).toEqual([
    [true, 1, null],
    ['went on', 2, expect.closeTo(3 * Math.log(0.5), 4), true, false],
    [
      [
        [0.75, -0.75],
        [0, 0],
      ],
      [
        [0.5, 0],
        [0, 0],
      ],
    ],
    [0, 0, 0],
    [1, true],
    [12, [5, 9], [5, 9], 3],
    'backward',
  ]);
});

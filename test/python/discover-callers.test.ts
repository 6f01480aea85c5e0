// Whether those that call a function hand over what is shifted: by text alone, so it is asked of texts.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { parseStrict } from '../../src/outside/json.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { makeWorld } from '../cli/world.ts';

const ASK = `
import json, sys
from lossproof_discover._serve import Desk
def told(path):
    desk = Desk()
    names = [each["name"] for each in desk.read([path])["candidates"]]
    return desk.callers(next(at for at, name in enumerate(names) if name in ("gather", "Gather")), {"logits": "logits", "ids": "labels"})
print(json.dumps([told(path) for path in sys.argv[1:]]))
`;
const GATHER = 'def gather(logits, labels):\n    return logits\n\n\n';

interface Callers {
  readonly shifts: boolean;
  readonly call: string | null;
}

/** Of the function in `trainer.py`, the one file that is named. */
async function callers(projects: readonly Readonly<Record<string, string>>[]): Promise<readonly Callers[]> {
  const { folder } = makeWorld();
  const paths = projects.map((files, at) => {
    const own = join(folder, String(at));
    mkdirSync(own);
    for (const [name, content] of Object.entries(files)) writeFileSync(join(own, name), content);
    return join(own, 'trainer.py');
  });
  const { stdout } = await execa('python3', ['-c', ASK, ...paths], {
    env: { PYTHONPATH: join(PACKAGE_ROOT, 'src', 'python') },
  });
  const parsed = parseStrict(stdout);
  if (!('ok' in parsed)) throw new Error(parsed.complaint);
  return parsed.ok as readonly Callers[];
}

const within = (...lines: readonly string[]): string =>
  `${GATHER}def step(model, batch, n):\n${lines.map((line) => `    ${line}\n`).join('')}`;

test('a slice, a roll or a name in the call, or where the name in it was assigned', async () => {
  const texts = [
    within("return gather(model(batch).logits[:, :-1], batch['ids'][:, 1:])"),
    within(
      "logits, labels = model(batch).logits, batch['labels']",
      'logits = logits[:, :-1, :] / 0.7',
      'labels = labels[:, 1:]',
      'return gather(logits, labels)',
    ),
    within("labels = torch.roll(batch['labels'], -1, dims=1)", 'return gather(model(batch), labels=labels)'),
    within(
      "x, y = batch['ids'][:, :-1], batch['ids'][:, 1:]",
      'return gather(model(x).logits, y.reshape(-1))',
    ),
    within("return gather(model(batch), batch['shift_labels'])"),
    within("return gather(model(batch)[:, -n - 1 : -1], batch['ids'][:, -n:])"),
    within("return [gather(l, i) for l, i in zip(model(batch)[:, :-1], batch['ids'][:, 1:])]"),
    within("return gather([row[:-1] for row in model(batch)], [row[1:] for row in batch['ids']])"),
    `${within("return hand_on(model(batch)[:, :-1], batch['ids'][:, 1:])")}\n\ndef hand_on(logits, labels):\n    logits = logits.float()\n    return gather(logits, labels)\n`,
    'class Gather:\n    def forward(self, logits, labels):\n        return logits\n\n\nclass T:\n    def __init__(self):\n        self.f = Gather()\n\n    def step(self, x, y):\n        return self.f(x[:, :-1], y[:, 1:])\n',
  ];
  const told = await callers(texts.map((text) => ({ 'trainer.py': text })));
  expect(texts.filter((_, at) => told[at]?.shifts !== true)).toEqual([]);
});

test('a call beside it, in a file that nobody named; but no adapter, which hands over what it was told to, and no test', async () => {
  const caller =
    'from trainer import gather\n\n\ndef step(m, ids):\n    return gather(m(ids)[:, :-1], ids[:, 1:])\n';
  const told = await callers([
    { 'trainer.py': GATHER, 'train.py': caller },
    { 'trainer.py': GATHER, 'adapter.py': `import lossproof\n${caller}`, 'test_it.py': caller },
  ]);
  expect(told).toEqual([
    { shifts: true, call: null },
    { shifts: false, call: null },
  ]);
});

test('no bare name, whatever it says, no other slice, nothing the wrong way, and nothing after the call', async () => {
  const texts = [
    within("return gather(model(batch).logits, batch['labels'])"),
    within(
      "labels = batch['labels'] * 1",
      'target = action = index = labels',
      'return gather(model(batch), index)',
    ),
    within("return gather(model(batch)[:, :-1], batch['labels'][:, :-1])"),
    within("return gather(model(batch)[:, 1:], batch['labels'][:, :-1])"),
    within("return gather(model(batch), torch.roll(batch['labels'], 1, 1))"),
    within('batch = batch[1:]', "return gather(model(batch), batch['labels'])"),
    within("return gather(model(batch)[:, n:], batch['ids'][:, n:])"),
    within('for i in range(4):', "    gather(model(batch)[i : i + 2], batch['ids'][i : i + 2])"),
    within("rollout_ids = batch['rollout']", 'return gather(model(batch), rollout_ids)'),
    within(
      "labels = batch['labels']",
      'out = gather(model(batch), labels)',
      'labels = labels[:, 1:]',
      'return out',
    ),
    `${GATHER}def hand_on(logits, labels):\n    return gather(logits, labels)\n`,
  ];
  const told = await callers(texts.map((text) => ({ 'trainer.py': text })));
  expect(texts.filter((_, at) => told[at]?.shifts !== false)).toEqual([]);
  for (const { call } of told) expect(call).toContain('gather(');
});

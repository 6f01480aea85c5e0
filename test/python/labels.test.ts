// The ready-made adapter of SFTTrainer, where a version of TRL drops the column of labels that it is handed: the case is
// refused with the reason, and nobody is blamed. Played with rows, because one version of TRL is installed.
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { pythonEnvironment } from '../../scripts/python.ts';

const SCRIPT = `
import json, sys
from lossproof import Reject
from lossproof.adapters.common._labels import kept_labels, labels_of

collator = lambda rows: {"labels": [[-100, *row["input_ids"][1:]] for row in rows]}
said = []
try:
    kept_labels(iter([{"input_ids": [5, 6]}]), "TRL 0.24.0")
except Reject as refusal:
    said.append(str(refusal))
said.append(kept_labels([{"input_ids": [5], "labels": [5]}], "TRL"))
said.append(labels_of({"input_ids": [5, 6], "labels": [-100, 6]}, None))
said.append(labels_of({"input_ids": [5, 6, 7], "completion_mask": [0, 1, 1]}, collator))
print(json.dumps(said), file=sys.stderr)
`;

test('labels that the dataset preparation dropped are no labels of the trainer', async () => {
  const { stderr } = await execa('python3', ['-c', SCRIPT], { env: pythonEnvironment() });
  const [refusal, rows, own, made] = JSON.parse(stderr) as unknown[];
  expect(refusal).toMatch(/^TRL 0\.24\.0 selects columns in its dataset preparation/);
  expect(rows).toEqual([{ input_ids: [5], labels: [5] }]);
  expect(own).toEqual([-100, 6]);
  expect(made).toEqual([-100, 6, 7]);
});

// `lossproof.pytest.trace`: a script that trains, run from a test, and its ledger asserted on.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeFolder } from './pytest.ts';

const SCRIPT = join(PACKAGE_ROOT, 'test', 'torch', 'trace', 'scripts', 'loop.py');

test('what a script trains is asserted on; where it is wrong, the ledger says so', async () => {
  const folder = makeFolder();
  folder.write(
    'data.jsonl',
    '{"prompt": "2 + 2 =", "completion": " 4"}\n{"prompt": "The capital is", "completion": " Paris."}\n',
  );
  folder.write(
    'test_train.py',
    `
import lossproof

TOLD = dict(dataset="data.jsonl", tokenizer=${JSON.stringify(familyFolder('qwen'))})
SCRIPT = ${JSON.stringify(SCRIPT)}


def test_right():
    ledger = lossproof.pytest.trace(SCRIPT, "--data", "data.jsonl", **TOLD)
    assert ledger and not ledger.failed and not ledger.unseen
    assert ledger.row(0).text == "2 + 2 = 4<|im_end|>"
    assert ledger.row(0).trained == " 4<|im_end|>"
    assert [step["rows"] for step in ledger.steps] == [2, 2]


def test_prompt_is_trained():
    ledger = lossproof.pytest.trace(SCRIPT, "--data", "data.jsonl", "--fault", "prompt", **TOLD)
    assert ledger.row(0).trained == " + 2 = 4<|im_end|>"
    assert ledger, ledger


def test_no_such_script():
    lossproof.pytest.trace("gone.py")
`,
  );
  const { code, out } = await folder.pytest(['test_train.py', '--tb=short']);
  expect(code, out).toBe(1);
  expect(out).toMatch(
    /^FAILED test_train\.py::test_prompt_is_trained - AssertionError: <ledger of 4 rows in 2 steps, exit code 1/m,
  );
  expect(out).toMatch(/tokenize\/prompt-is-not-trained: fail: /);
  expect(out).toMatch(/^FAILED test_train\.py::test_no_such_script - lossproof_door\._traced\.NotTraced/m);
  expect(out).toContain('1 passed');
});

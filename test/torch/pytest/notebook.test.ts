// `lossproof.check` and `lossproof.view` in a process that was there before: what they return, what they show, and what
// becomes of a function that hangs and of Ctrl-C.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { makeProgram } from '../../cli/commands.ts';
import { isAlive } from '../../trainer/misbehave.ts';
import { makeNotebook } from './pytest.ts';

/** The functions of the example, as a notebook has them. */
const CELLS = `
import json, os, threading, time
import lossproof
import right_functions as right, wrong_functions as wrong
`;

test('functions are judged where they are, by the thread that asks, and the result shows itself', async () => {
  const folder = makeNotebook();
  folder.write(
    'cells.py',
    `${CELLS}
def mask(**args):
    assert threading.current_thread() is threading.main_thread()
    print("seen")
    return wrong.mask(**args)


def of_prompts(prompt_ids, completion_ids, pad_token_id):
    return mask(prompt_ids=prompt_ids, completion_ids=completion_ids, pad_token_id=pad_token_id)


result = lossproof.check({"mask": of_prompts}, only="mask", seed=7, cases=30)
held = lossproof.check({"mask": right.mask}, only=["mask"], seed=7, cases=30)
nothing = lossproof.check({"mask": right.mask}, only="kl")
command = lossproof.check(["python3", "right.py"], only="mask/is-zero-or-one", cases=5)
for each in (result, held, nothing, command):
    print(json.dumps([bool(each), sorted(verdict.id for verdict in each.failed)]))
print(result.failed[0]._repr_html_())
print(repr(result))
print(repr(nothing).splitlines()[0])
open("cell.html", "w").write(result._repr_html_())
for wrong_call in (lambda: lossproof.check({"maks": right.mask}), lambda: lossproof.check("python3 gone.py")):
    try:
        wrong_call()
    except Exception as error:
        print("refused:", str(error).splitlines()[0])
`,
  );
  const { code, out } = await folder.python(['cells.py']);
  expect(code, out).toBe(0);
  expect(out).toContain(
    '[false, ["mask/every-stop-id-ends-a-completion", "mask/stop-token-is-trained-once", "mask/unchanged-when-pad-is-renamed"]]\n[true, []]\n[false, []]\n[true, []]\n',
  );
  expect(out).toMatch(/Token 1 \(id \d+\) stops the completion of row 0, but the mask does not train it;/);
  expect(out).toMatch(/^<p><code>mask\/[\w-]+<\/code> <b>fail<\/b> [^<]+<br>Token \d+ \(id \d+\) .*<\/p>$/m);
  expect(out).toContain('Reproduce   lossproof.check(..., seed=7)');
  expect(out).toContain('Nothing was checked: no property judged a case');
  expect(out).toContain("refused: there is no op 'maks', did you mean 'mask'?");
  expect(out).toContain('refused: python3 gone.py did not start');
  const cell = readFileSync(join(folder.path, 'cell.html'), 'utf8');
  expect(cell).toContain('<div class="strip"');
  expect(cell).not.toMatch(/<script|relay\.py/);
  // No command starts these functions again: a saved case could not be seen again.
  expect(existsSync(join(folder.path, '.lossproof', 'cases'))).toBe(false);
});

test('a cell that runs again declares its functions anew, whatever modules declare that it imports', async () => {
  const folder = makeNotebook();
  const cell = (module: string): string => `
@lossproof.op
def mask(prompt_ids, completion_ids, pad_token_id):
    return ${module}.mask(prompt_ids, completion_ids, pad_token_id)
print(bool(lossproof.check(only="mask/stop-token-is-trained-once", seed=7, cases=30)))
`;
  folder.write('mine.py', 'import lossproof\n\n\n@lossproof.op\ndef mask(prompt_ids):\n    raise KeyError\n');
  folder.write('cells.py', `${CELLS}import mine\n${cell('wrong')}${cell('right')}`);
  const { code, out } = await folder.python(['cells.py']);
  expect(code, out).toBe(0);
  expect(out).toBe('False\nTrue');
});

test('a function that hangs is an answer: it is interrupted, and the check goes on', async () => {
  const folder = makeNotebook();
  folder.write(
    'cells.py',
    `${CELLS}
calls = []


def mask(prompt_ids, completion_ids, pad_token_id):
    calls.append(1)
    if len(calls) == 60:
        time.sleep(1000)
    return right.mask(prompt_ids, completion_ids, pad_token_id)


result = lossproof.check({"mask": mask}, only="mask/is-zero-or-one", seed=7, op_timeout=2)
print(bool(result), [verdict.verdict for verdict in result.verdicts], result.failed[0].sentence)
print(bool(lossproof.check({"mask": right.mask}, only="mask/is-zero-or-one", seed=7)))
`,
  );
  const { code, out } = await folder.python(['cells.py']);
  expect(code, out).toBe(0);
  expect(out).toContain("False ['error'] The trainer did not answer mask within 2 s");
  expect(out.trimEnd()).toMatch(/\nTrue$/);
});

test('Ctrl-C ends a check as it ends any cell, and leaves nothing running', async () => {
  const folder = makeNotebook();
  folder.write(
    'cells.py',
    `${CELLS}
import subprocess


def mask(prompt_ids):
    open("asked", "w").close()
    time.sleep(1000)


try:
    lossproof.check({"mask": mask}, only="mask", op_timeout=900)
except KeyboardInterrupt:
    print("interrupted")
print("children:", subprocess.run(["pgrep", "-P", str(os.getpid())], stdout=subprocess.PIPE).stdout.decode().split()[1:])
`,
  );
  const running = folder.startPython(['cells.py']);
  await expect.poll(() => existsSync(join(folder.path, 'asked')), { timeout: 120_000 }).toBe(true);
  running.kill('SIGINT');
  const { code, out } = await running.ran;
  expect(code, out).toBe(0);
  expect(out).toContain('interrupted\nchildren: []');
});

test('what Python has for rows and for options is what view is told', async () => {
  const folder = makeNotebook();
  folder.write(
    'cells.py',
    `${CELLS}
import numpy
from datasets import Dataset
from pathlib import Path
from lossproof_door._declared import words_of
from lossproof_door._engine import EngineProblem

made = {"input_ids": [[5, 6], [7, 8]], "labels": [[-100, 6], [-100, 8]]}
rows = [{name: numpy.array(values[at]) for name, values in made.items()} for at in range(2)]
shown = {str(lossproof.view(data)) for data in (Dataset.from_dict(made), Dataset.from_dict(made).with_format("numpy"), rows, iter(rows))}
print(len(shown), "None of 2 rows is flagged" in shown.pop())
plain = dict(tokenizer=None, all=False, strict=False, max_length=numpy.int64(3))
print("row 2" in str(lossproof.view(rows, row=[2], strip=True, **plain)), "row 2" in str(lossproof.view(rows, row=1, **plain)))
told = dict(only=["mask", "kl/*"], train_on=None, strict=False, semantics={"kl_clamp": None}, known=Path("known.json"))
print(words_of(told))
qwen = ${JSON.stringify(familyFolder('qwen'))}
cut = [{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": answer}]} for answer in ("Hello there", "Hello")]
print([bool(lossproof.view(cut, tokenizer=qwen, max_length=1000, stop=stop, strict=True)) for stop in ("<|im_end|>", ["<|im_end|>", 3])])
Path("data").mkdir()
Path("data/rows.jsonl").write_text("".join(json.dumps({"conversations": each["messages"]}) + "\\n" for each in cut))
tags = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}
Path("data/dataset_info.json").write_text(json.dumps({"mine": {"file_name": "rows.jsonl", "formatting": "sharegpt", "tags": tags}}))
Path("sft.yaml").write_text("model_name_or_path: %s\\nstage: sft\\ndataset: mine\\ntemplate: qwen\\n" % qwen)
print("LLaMA-Factory" in str(lossproof.view(config="sft.yaml")))
for call in (
    lambda: lossproof.view(Dataset.from_dict(made).to_pandas()),
    lambda: lossproof.view({"train": rows}),
    lambda: lossproof.view([{"text": object()}]),
    lambda: lossproof.view([{"text": "a"}, {"text": "b", "x": float("nan")}]),
    lambda: lossproof.view(3),
    lambda: lossproof.view(rows, html="page.html"),
    lambda: lossproof.view(rows, tokeniser=qwen),
):
    try:
        call()
    except (TypeError, EngineProblem) as error:
        print("refused:", error)
`,
  );
  const { code, out } = await folder.python(['cells.py']);
  expect(code, out).toBe(0);
  expect(out.split('\n').filter((line) => !/Warning|^ {2}/.test(line))).toEqual([
    '1 True',
    'True False',
    `['--only', 'mask,kl/*', '--semantics', '{"kl_clamp": null}', '--known', 'known.json']`,
    '[True, True]',
    'True',
    expect.stringMatching(
      /^refused: row 1 is 'input_ids', and a row is a mapping .* a DataFrame as data\.to_dict/,
    ),
    expect.stringMatching(
      /^refused: row 1 is 'train', .* one part of a data set with several as data\["train"\]/,
    ),
    'refused: row 1: JSON has no word for the type object; leave that column out, or make it a text',
    expect.stringMatching(
      /^refused: row 2: Out of range float values .*; leave that column out, or make it a text$/,
    ),
    'refused: lossproof.view takes a file of JSON lines, or rows, and 3 is neither',
    expect.stringMatching(/^refused: lossproof\.view has no option 'html', /),
    "refused: lossproof.view has no option 'tokeniser', did you mean 'tokenizer'?",
  ]);
});

test('options that Python offers are those that the command has', async () => {
  const asked =
    'import json; from lossproof_door import _traced, _viewed; print(json.dumps([_viewed._SHOWN, _traced._TOLD]))';
  const [view, trace]: [string[], string[]] = JSON.parse((await makeNotebook().python(['-c', asked])).out);
  const program = await makeProgram();
  const optionsOf = (name: string): (string | undefined)[] =>
    program.commands
      .find((command) => command.name() === name)
      ?.options.map(({ long }) => long?.slice('--'.length).replaceAll('-', '_')) ?? [];
  // The page is what comes back, with the verdict, and a row is given as it is.
  const others = ['html', 'json', 'conversation', 'ids', 'labels'];
  expect([...view, ...others].sort()).toEqual(optionsOf('view').sort());
  expect(trace.filter((name) => !optionsOf('trace').includes(name))).toEqual([]);
});

test('a kernel that is killed leaves no view at work', async () => {
  const folder = makeNotebook();
  const row = {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello there. '.repeat(20) },
    ],
  };
  folder.write('data.jsonl', `${JSON.stringify(row)}\n`.repeat(200_000));
  folder.write(
    'cells.py',
    `${CELLS}
from lossproof_door import _viewed

start = _viewed.start


def told(*words, **more):
    process = start(*words, **more)
    open("pid", "w").write(str(process.pid))
    return process


_viewed.start = told
lossproof.view("data.jsonl", tokenizer=${JSON.stringify(familyFolder('qwen'))})
`,
  );
  const running = folder.startPython(['cells.py']);
  const pid = (): number =>
    Number(existsSync(join(folder.path, 'pid')) && readFileSync(join(folder.path, 'pid'), 'utf8'));
  await expect.poll(pid, { timeout: 120_000 }).toBeGreaterThan(0);
  // It has read the rows, and is making them, which takes it half a minute.
  await expect.poll(() => secondsOf(pid()), { timeout: 300_000 }).toBeGreaterThan(2);
  running.kill('SIGKILL');
  const killed = secondsOf(pid());
  await running.ran;
  let last = killed;
  const isAtWork = (): boolean => {
    last = Math.max(last, secondsOf(pid()));
    return isAlive(pid());
  };
  await expect.poll(isAtWork, { timeout: 300_000 }).toBe(false);
  expect(last - killed).toBeLessThan(4);
});

/** Of a processor, as Linux has it; 0 where there is no such process. */
function secondsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

test('the masks of rows, in a frame of their own', async () => {
  const folder = makeNotebook();
  folder.write(
    'cells.py',
    `${CELLS}
rows = [{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]}]
view = lossproof.view(rows, tokenizer=${JSON.stringify(familyFolder('qwen'))})
print(bool(view), view)
print(view._repr_html_()[:60])
try:
    lossproof.view("gone.jsonl")
except Exception as error:
    print("refused:", error)
`,
  );
  const { code, out } = await folder.python(['cells.py']);
  expect(code, out).toBe(0);
  expect(out).toContain(
    '✓ None of 1 row is flagged.\n<iframe title="Masks of a data set" sandbox="allow-scripts"',
  );
  expect(out).toContain('refused: there is no file gone.jsonl');
});

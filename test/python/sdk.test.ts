import { expect, test } from 'vitest';
import { adapter, bytes, lines } from './adapter.ts';

const ADVANTAGES = { op: 'advantages', args: { rewards: [1, 0.5], group_ids: [0, 0] } };
const SERVE = 'lossproof.serve(name="a")';

test('hello says what was declared and nothing else', async () => {
  const { answers } = await adapter(
    `
@lossproof.op(kl_estimator=["k1", "k3"])
def kl(logprobs, kl_estimator): return {"kl": logprobs}
lossproof.serve(name="mine", version="2", layout={"alignment": "token", "span": "row"}, dtype="float64",
                 ops={"mask": lambda sequences: {}, "loss": (lambda **all: {}, {"micro_batches": True})})`,
    [{ op: 'hello', args: { protocol: 1, harness: 'test' } }],
  );
  expect(answers[0]?.ok).toEqual({
    protocol: 1,
    name: 'mine',
    version: '2',
    runtime: expect.stringMatching(/^python 3\./),
    layout: { alignment: 'token', span: 'row' },
    dtype: 'float64',
    ops: { kl: { kl_estimator: ['k1', 'k3'] }, mask: {}, loss: { micro_batches: true } },
  });
});

test('an op that the trainer lacks is not offered, and why is said, as are its notes', async () => {
  const { answers } = await adapter(
    `
ops = {"kl": lambda logprobs: {"kl": logprobs}, "entropy": lambda logits: {}}
lossproof.serve(name="a", ops=ops, lacks={"entropy": "version 1 computes none"}, notes=["tested with 2"])`,
    [{ op: 'hello', args: { protocol: 1, harness: 'test' } }],
  );
  expect(answers[0]?.ok).toMatchObject({
    ops: { kl: {} },
    lacks: { entropy: 'version 1 computes none' },
    notes: ['tested with 2'],
  });
  expect(answers[0]?.ok).not.toHaveProperty('ops.entropy');
});

test('what lines of a ready-made adapter raise is told apart from what the trainer raises', async () => {
  const { answers } = await adapter(
    `
import os
def made(file):
    space = {}
    exec(compile("def fails(rewards): raise KeyError(1)", file, "exec"), space)
    return space["fails"]
ours = made(os.path.join(os.path.dirname(lossproof.__file__), "adapters", "some.py"))
lossproof.serve(name="a", ops={"advantages": lambda rewards: (ours if rewards[0] else made("trainer.py"))(rewards)})`,
    [ADVANTAGES, { op: 'advantages', args: { ...ADVANTAGES.args, rewards: [0, 1] } }],
  );
  expect(answers[0]?.error).toMatchObject({ message: 'KeyError: 1', adapter: true });
  expect(answers[1]?.error).not.toHaveProperty('adapter');
});

test('prints of Python and of C end on standard error and answers stay whole', async () => {
  const { stdout, stderr, answers } = await adapter(
    `
import os
os.system("echo from a child")
@lossproof.op
def advantages(rewards):
    print("from python", flush=True)
    os.write(1, b"from fd 1\\n")
    return {"advantages": rewards}
${SERVE}`,
    [ADVANTAGES],
  );
  expect(answers[0]?.ok).toEqual({ advantages: [1, 0.5] });
  expect(stdout).not.toContain('from');
  for (const line of ['from a child', 'from python', 'from fd 1']) expect(stderr).toContain(line);
});

test('where no harness started it, standard output is taken by serve and not by the import', async () => {
  const source = `
import lossproof
print("before", flush=True)
lossproof.serve(name="a", ops={"advantages": lambda rewards: print("behind") or {"advantages": rewards}})`;
  const { stdout, stderr } = await bytes(['-c', source], lines([ADVANTAGES]), {});
  expect(stdout).toBe('before\n{"id":1,"ok":{"advantages":[1,0.5]}}');
  expect(stderr).toBe('behind');
});

test('what the trainer starts in turn keeps its standard output', async () => {
  const { answers } = await adapter(
    `
import subprocess, sys
@lossproof.op
def advantages(rewards):
    told = subprocess.run([sys.executable, "-c", "import lossproof; print('told')"], stdout=subprocess.PIPE).stdout
    return {"advantages": rewards, "options": {"told": told.decode()}}
${SERVE}`,
    [ADVANTAGES],
  );
  expect(answers[0]?.ok).toEqual({ advantages: [1, 0.5], options: { told: 'told\n' } });
});

test('an exception, a refusal and a skip are answers, and the process lives on', async () => {
  const { answers, exitCode } = await adapter(
    `
@lossproof.op
def advantages(rewards): return {"advantages": [1 / r for r in rewards]}
@lossproof.op
def kl(logprobs): raise lossproof.Reject("rows too short")
@lossproof.op
def score(prompt_ids): raise lossproof.Skip("no model here")
${SERVE}`,
    [
      { op: 'advantages', args: { rewards: [0], group_ids: [0] } },
      { op: 'kl' },
      { op: 'score', args: { prompt_ids: [] } },
      { op: 'mask' },
      ADVANTAGES,
    ],
  );
  expect(answers[0]?.error?.message).toBe('ZeroDivisionError: division by zero');
  expect(answers[0]?.error?.traceback).toContain('in advantages');
  expect(answers[1]?.error?.message).toContain("missing 1 required positional argument: 'logprobs'");
  expect(answers[2]?.skip).toBe('no model here');
  expect(answers[3]?.skip).toContain("no op 'mask'");
  expect(answers[4]?.ok).toEqual({ advantages: [1, 2] });
  expect(exitCode).toBe(0);
});

test('a refusal carries its reason', async () => {
  const { answers } = await adapter(
    `
@lossproof.op
def advantages(rewards): raise lossproof.Reject("group of one")
${SERVE}`,
    [ADVANTAGES],
  );
  expect(answers[0]?.reject).toBe('group of one');
});

const TWICE = `
import lossproof
@lossproof.op
def advantages(rewards): return {"advantages": rewards}
@lossproof.op("advantages")
def later(rewards): return {"advantages": [2 * each for each in rewards]}
${SERVE}`;

test('two functions of one op stop an adapter of the harness; elsewhere the later of a module is meant', async () => {
  const started = await bytes(['-c', TWICE], lines([ADVANTAGES]));
  expect(started.exitCode).toBe(1);
  expect(started.stderr).toContain("ValueError: op 'advantages' has two functions: ");
  const byHand = await bytes(['-c', TWICE], lines([ADVANTAGES]), {});
  expect(byHand.stdout).toBe('{"id":1,"ok":{"advantages":[2,1.0]}}');
});

test("of two modules' functions those of the module that asks are meant, and where it has none nobody knows", async () => {
  const source = `
import sys, types
import lossproof
from lossproof._registry import collected
for name in ("one", "other"):
    exec('import lossproof\\n@lossproof.op\\ndef kl(logprobs): return "%s"' % name, types.ModuleType(name).__dict__)
@lossproof.op
def mask(prompt_ids): pass
for asking in ("one", "other"):
    functions = collected(None, asking)
    print(sorted(functions), functions["kl"][0]([]))
try:
    collected(None, __name__)
except ValueError as error:
    print(error)`;
  const { stdout } = await bytes(['-c', source], '', {});
  expect(stdout).toMatch(
    /^\['kl', 'mask'\] one\n\['kl', 'mask'\] other\nop 'kl' has two functions: .*; say which is meant, as \{'kl': function\}$/,
  );
});

test('a parameter that no request fills stops the adapter with the nearest match', async () => {
  const { stderr, exitCode, answers } = await adapter(
    `
@lossproof.op
def advantages(reward): ...
${SERVE}`,
    [ADVANTAGES],
  );
  expect(stderr).toContain("op 'advantages': no argument 'reward' is ever sent, did you mean 'rewards'?");
  expect(exitCode).toBe(2);
  expect(answers).toEqual([]);
});

test('an unknown op stops the adapter with the nearest match', async () => {
  const { stderr, exitCode } = await adapter('lossproof.serve(name="a", ops={"advantage": print})', []);
  expect(stderr).toContain("there is no op 'advantage', did you mean 'advantages'?");
  expect(exitCode).toBe(2);
});

test('a function may take defaults of its own, an absent optional argument, or everything', async () => {
  const { answers } = await adapter(
    `
@lossproof.op
def kl(logprobs, kl_estimator, scale=3): return {"kl": [[kl_estimator is None, scale]]}
@lossproof.op
def advantages(**fields): return {"advantages": sorted(fields)}
${SERVE}`,
    [{ op: 'kl', args: { logprobs: [] } }, ADVANTAGES],
  );
  expect(answers[0]?.ok).toEqual({ kl: [[1, 3]] });
  expect(answers[1]?.ok).toEqual({ advantages: ['group_ids', 'rewards'] });
});

test('an argument that the op does not know is refused by name', async () => {
  const { answers } = await adapter(
    `
@lossproof.op
def advantages(rewards): return {"advantages": rewards}
${SERVE}`,
    [{ op: 'advantages', args: { rewards: [], group_ids: [], colour: 1 } }],
  );
  expect(answers[0]?.error?.message).toContain("'colour'");
});

test('booleans become 0 and 1, tuples lists and dataclasses records', async () => {
  const { stdout } = await adapter(
    `
import dataclasses
@dataclasses.dataclass
class Answer:
    completion_mask: list
    input_ids: tuple
@lossproof.op
def mask(): return Answer([[True, False]], ((1, 2),))
${SERVE}`,
    [{ op: 'mask' }],
  );
  expect(stdout).toBe('{"id":1,"ok":{"completion_mask":[[1,0]],"input_ids":[[1,2]]}}');
});

test('NaN, Infinity, -0.0, 1.0 and 1 come back as they were sent', async () => {
  const numbers = '[NaN,Infinity,-Infinity,-0.0,1.0,1]';
  const script = `
import lossproof
@lossproof.op
def advantages(rewards): return {"advantages": rewards}
${SERVE}`;
  const { stdout } = await bytes(
    ['-c', script],
    `{"id":1,"op":"advantages","args":{"rewards":${numbers},"group_ids":[]}}\n`,
  );
  expect(stdout).toBe(`{"id":1,"ok":{"advantages":${numbers}}}`);
});

test('an answer that is no record, or holds what cannot be sent, is an error with its reason', async () => {
  const { answers } = await adapter(
    `
@lossproof.op
def mask(): return [[1]]
@lossproof.op
def advantages(): return {"advantages": {1, 2}}
${SERVE}`,
    [{ op: 'mask' }, ADVANTAGES],
  );
  expect(answers[0]?.error?.message).toContain("op 'mask' returned list; return a dict");
  expect(answers[1]?.error?.message).toContain('a set cannot be sent');
});

test('all parameters that no request fills are named at once, each with the nearest match', async () => {
  const { stderr } = await adapter(
    `
@lossproof.op
def advantages(reward, groups): ...
@lossproof.op
def kl(logp): ...
${SERVE}`,
    [ADVANTAGES],
  );
  expect(stderr).toContain("no argument 'reward' is ever sent, did you mean 'rewards'?");
  expect(stderr).toContain("no argument 'groups' is ever sent");
  expect(stderr).toMatch(/^lossproof: op 'kl': no argument 'logp' is ever sent/m);
});

test('an answer that is no dict has no traceback, for no line of the user raised it', async () => {
  const { answers } = await adapter(`\n@lossproof.op\ndef mask(): return 1, 2\n${SERVE}`, [{ op: 'mask' }]);
  expect(answers[0]?.error).toEqual({
    message: "op 'mask' returned tuple; return a dict of the answer's fields",
  });
});

test('base64 tensors arrive as nested lists', async () => {
  const data = Buffer.from(new Float32Array([1, 2, 3, 4, 5, 6]).buffer).toString('base64');
  const { answers } = await adapter(
    `
@lossproof.op
def kl(logprobs): return {"kl": logprobs}
lossproof.serve(name="a", tensors="base64")`,
    [{ op: 'kl', args: { logprobs: { dtype: 'float32', shape: [3, 2], data } } }],
  );
  expect(answers[0]?.ok).toEqual({
    kl: [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
  });
});

test('base64 tensors arrive as arrays of their own where arrays are asked for', async () => {
  const floats = Buffer.from(new Float32Array([1, 2, 3, 4]).buffer).toString('base64');
  const whole = Buffer.from(new BigInt64Array([0n, 1n, 1n, 0n]).buffer).toString('base64');
  const { answers } = await adapter(
    `
@lossproof.op
def kl(logprobs, completion_mask, old_logprobs):
    logprobs *= completion_mask
    return {"kl": logprobs, "mean_kl": float(old_logprobs.sum()), "seen": [str(a.dtype) for a in (logprobs, completion_mask)]}
lossproof.serve(name="a", arrays="numpy", dtype="float64", tensors="base64")`,
    [
      {
        op: 'kl',
        args: {
          logprobs: { dtype: 'float32', shape: [2, 2], data: floats },
          completion_mask: { dtype: 'int64', shape: [2, 2], data: whole },
          old_logprobs: [[1, 2]],
        },
      },
    ],
  );
  const data = Buffer.from(new Float64Array([0, 2, 3, 0]).buffer).toString('base64');
  expect(answers[0]).toMatchObject({
    ok: { kl: { dtype: 'float64', shape: [2, 2], data }, mean_kl: 3, seen: ['float64', 'int64'] },
    written: ['logprobs'],
  });
});

const KL = {
  op: 'kl',
  args: {
    logprobs: [[-1, -2]],
    old_logprobs: [[-1, -2]],
    ref_logprobs: [[-1, -2]],
    completion_mask: [[0, 1]],
    prompt_width: 1,
  },
};

test.each([
  ['lists', '', 'logprobs[0][1] = 0.0'],
  ['arrays', ', arrays="numpy"', 'logprobs *= completion_mask'],
])(
  'an argument that is written into is named beside the answer, whatever was handed over: %s',
  async (_, arrays, write) => {
    const answered = (body: string) =>
      adapter(
        `
@lossproof.op
def kl(logprobs, ref_logprobs, completion_mask):
    ${body}
    return {"mean_kl": 0.0}
lossproof.serve(name="a"${arrays})`,
        [KL, KL],
      );
    expect((await answered(write)).answers.map(({ written }) => written)).toEqual([
      ['logprobs'],
      ['logprobs'],
    ]);
    expect(
      (await answered('ref_logprobs = ref_logprobs[0]')).answers.map((answer) => 'written' in answer),
    ).toEqual([false, false]);
  },
);

test('NaN is equal to itself, and a row that grew is another one', async () => {
  const { answers } = await adapter(
    `
@lossproof.op
def advantages(rewards, group_ids):
    if group_ids[0]: rewards.append(0.0)
    return {"advantages": rewards[: len(group_ids)]}
${SERVE}`,
    [
      { op: 'advantages', args: { rewards: [Number.NaN], group_ids: [0] } },
      { op: 'advantages', args: { rewards: [1], group_ids: [1] } },
    ],
  );
  expect(answers.map(({ written }) => written)).toEqual([undefined, ['rewards']]);
});

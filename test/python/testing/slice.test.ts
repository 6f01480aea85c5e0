// A stretch of a method, found by its text: what it computes, where its tracebacks point, and what is said where it cannot
// be cut out or is no longer there.
import { expect, test } from 'vitest';
import { said } from './script.ts';

/** Never imported: the first line would end the process. */
const TRAINER = `raise SystemExit("imported")
from __future__ import annotations
import math, absent.package
from typing import List as Rows

SCALE = 2

class Config: pass

class Trainer:
    def train(self, loader):
        for step, batch in enumerate(loader):
            if batch is None:
                continue
            # advantages
            rewards: Rows[float] = [float(r)   for r in batch]  # as floats
            mean = sum(rewards) / len(rewards)
            spread = math.sqrt(sum((r - mean) ** 2 for r in rewards))
            advantages = [
                (r - mean) / (spread + self.__epsilon)
                for r in rewards
            ]
            total += sum(advantages)
            if total > 0:
                loss = -total
            else:
                loss = total
            loss = loss * SCALE
            self.log(loss)
            try:
                self.backward(loss)
            finally:
                self.done = True

    def score(self, x):
        y = x * 2
        if y > 3:
            return y
        return -y

    def stream(self, x):
        z = x + 1
        yield z
        super().stream(z)

    async def wait(self, x):
        await x

    @property
    def size(self): 
        return 1

    @size.setter
    def size(self, value):
        self._size = value

def outer():
    def inner(a):
        b = a + 1
        def deeper(c: Unknown) -> Other:
            return c + b
        return deeper(b)
    return inner
`;
const FILES = { 'trainer.py': TRAINER.replace('raise SystemExit("imported")\nfrom', 'from') };
const CUT = `
import math, traceback
from types import SimpleNamespace
from lossproof.testing import slice_of
def cut(begin, end, inputs, outputs, where="Trainer.train", **space):
    return slice_of("trainer.py", where, begin, end, inputs, outputs, namespace=dict(math=math, **space))
`;

test('lines from the middle of a loop run by themselves, on a given self, from a file that is not imported', async () => {
  const answers = await said(
    `${CUT}
advantages = cut("rewards: Rows", "]", ["self", "batch"], ["advantages", "mean"])
me = SimpleNamespace(_Trainer__epsilon=1.0)
say(advantages(me, [1, 3]))
say(advantages(self=me, batch=[2, 2]))
say([list(advantages.lines), advantages.source.splitlines()[0].strip(), "trainer" in sys.modules])
say(cut("mean =", "mean =", "rewards", "mean")([1, 2]))
say(cut("mean  =  sum( rewards )/len(rewards)", "spread", ["rewards"], "spread")([1, 3]))
say(cut("if total > 0:", "loss=loss*SCALE", ["total"], "loss", SCALE=3)(2))
say(cut("if total > 0:", "if total > 0:", ["total"], "loss")(-2))
say(cut("total +=", "total +=", ["total", "advantages"], "total")(1, [2, 3]))
`,
    FILES,
  );
  expect(answers).toEqual([
    { advantages: [-1 / (Math.SQRT2 + 1), 1 / (Math.SQRT2 + 1)], mean: 2 },
    { advantages: [0, 0], mean: 2 },
    [[15, 21], 'rewards: Rows[float] = [float(r)   for r in batch]  # as floats', false],
    1.5,
    Math.SQRT2,
    -6,
    -2,
    6,
  ]);
});

test('a traceback shows the line of the file, and a debugger the name of the method', async () => {
  const answers = await said(
    `${CUT}
step = cut("rewards:", "advantages = [", ["self", "batch"], "advantages")
def frames(function):
    try: function()
    except Exception: return [(f.filename, f.lineno, f.name, f.line) for f in traceback.extract_tb(sys.exc_info()[2])][1:]
say([frames(lambda: step(None, [1, 2]))[at] for at in (1, -1)])
say([step.__name__, step.__qualname__])
say(why(lambda: step(None)))
`,
    FILES,
  );
  expect(answers[0]).toEqual([
    // Before Python 3.12 a comprehension has a frame of its own.
    ['trainer.py', expect.any(Number), 'train', expect.any(String)],
    [
      'trainer.py',
      19,
      expect.stringMatching(/^(train|<listcomp>)$/),
      '(r - mean) / (spread + self.__epsilon)',
    ],
  ]);
  expect(answers[1]).toEqual(['train', 'Trainer.train']);
  expect(answers[2]).toMatch(
    /^TypeError: (Trainer\.)?train\(\) missing 1 required positional argument: 'batch'$/,
  );
});

test('return, a nested function and the top of a file', async () => {
  const answers = await said(
    `${CUT}
score = cut("y = x * 2", "return -y", ["x"], "return", where="Trainer.score")
say([score(1), score(2)])
say(cut("if y > 3", "if y > 3", ["y"], "return", where="Trainer.score")(4))
say(why(lambda: cut("if y > 3", "if y > 3", ["y"], "return", where="Trainer.score")(1)))
say(cut("b = a", "return deeper", ["a"], "return", where="outer.inner")(1))
say(cut("SCALE = 2", "SCALE = 2", [], "SCALE", where=None)())
say(why(lambda: cut("def size", "return 1", ["self"], "return", where="Trainer.size")))
say(cut("self._size = value", "self._size", ["self", "value"], ["value"], where="Trainer.size")(SimpleNamespace(), 4))
`,
    FILES,
  );
  expect(answers).toEqual([
    [-2, 4],
    4,
    'RuntimeError: the stretch ended without a return',
    4,
    2,
    'SliceError: trainer.py defines Trainer.size on lines 49, 53: the begin does not tell which',
    { value: 4 },
  ]);
});

test("an imported module's own globals are used, and stand-ins in them are seen", async () => {
  const answers = await said(
    `
import small
from lossproof.testing import slice_of, spy
double = slice_of(small, "f", "y = g(x)", "y =", "x", "y")
say(double(3))
with spy(small, "g", returns=0) as calls:
    say(double(3))
say(calls.only.args)
`,
    { 'small.py': 'def g(x): return x + 1\ndef f(x):\n    y = g(x)\n    return y\n' },
  );
  expect(answers).toEqual([4, 0, [3]]);
});

test('what is not there any more is said with what is nearest', async () => {
  const answers = await said(
    `${CUT}
say(why(lambda: cut("advantage = [r - mean", "]", ["self"], "advantages")))
say(why(lambda: cut("advantages = [", "total -= sum(advantages)", ["self"], "advantages")))
say(why(lambda: cut("y", "y", [], "y", where="Trainer.scores")))
say(why(lambda: slice_of("gone.py", "f", "a", "b", [], "c")))
say(why(lambda: slice_of("broken.py", "f", "a", "b", [], "c")))
say(why(lambda: cut("self.log(loss)", "mean =", ["self"], "loss")))
`,
    { ...FILES, 'broken.py': 'def f(:\n' },
  );
  expect(answers).toEqual([
    'SliceError: trainer.py: Trainer.train has no line `advantage = [r - mean` any more; nearest is line 18, `advantages = [`',
    'SliceError: trainer.py: Trainer.train has no line `total -= sum(advantages)` after its begin any more; nearest is line 22, `total += sum(advantages)`',
    'SliceError: trainer.py has no Trainer.scores; nearest is Trainer.score (line 34)',
    'SliceError: gone.py cannot be read: No such file or directory',
    expect.stringMatching(/^SliceError: broken\.py:1 is no Python: /),
    expect.stringMatching(
      /^SliceError: trainer\.py: Trainer\.train has no line `mean =` after its begin any more; nearest is line/,
    ),
  ]);
});

test('text on several lines is answered with the candidates; the whole line is preferred to its beginning', async () => {
  const answers = await said(
    `${CUT}
say(why(lambda: cut("loss", "loss = loss * SCALE", ["self"], "loss")))
say(why(lambda: cut("", "loss", ["self"], "loss")))
say(cut("loss = total", "loss = total", ["total"], "loss").lines)
say(cut("if total > 0:\\n    loss = -total", "if total > 0", ["total"], "loss").lines)
`,
    FILES,
  );
  expect(answers).toEqual([
    'SliceError: trainer.py: `loss`, the begin, is on several lines of Trainer.train: line 24, `loss = -total`; line 26, `loss = total`; line 27, `loss = loss * SCALE`',
    'SliceError: the begin is empty: it is the text of a line',
    [26, 26],
    [23, 26],
  ]);
});

test('a stretch lies in one block and ends with a whole statement', async () => {
  const answers = await said(
    `${CUT}
say(why(lambda: cut("loss = -total", "loss = loss * SCALE", ["total"], "loss")))
say(why(lambda: cut("if total > 0", "loss = -total", ["total"], "loss")))
say(why(lambda: cut("for r in rewards", "total +=", ["total"], "loss")))
say(why(lambda: cut("else:", "loss = loss * SCALE", ["total"], "loss")))
say(cut("for step", "self.done = True", ["self", "loader", "total"], "loss", SCALE=1).lines)
say(why(lambda: cut("for step", "self.backward(loss)", ["self", "loader", "total"], "loss", SCALE=1)))
`,
    FILES,
  );
  expect(answers).toEqual([
    'SliceError: trainer.py: the begin, line 24, `loss = -total`, is in a block that ends with line 24, before the end, line 27, `loss = loss * SCALE`: a stretch lies in one block',
    'SliceError: trainer.py: the end, line 24, `loss = -total`, is in the middle of what begins with line 23, `if total > 0:`: end with its last, line 26, `loss = total`',
    'SliceError: trainer.py: line 20, `for r in rewards` does not begin a statement; it is inside that of line 18, `advantages = [`',
    'SliceError: trainer.py: line 25, `else:` does not begin a statement; it is inside that of line 23, `if total > 0:`',
    [11, 32],
    'SliceError: trainer.py: the end, line 30, `self.backward(loss)`, is in the middle of what begins with line 29, `try:`: end with its last, line 32, `self.done = True`',
  ]);
});

test('what leaves the stretch is refused with what to do', async () => {
  const answers = await said(
    `${CUT}
say(why(lambda: cut("if batch is None", "continue", ["batch"], "batch")))
say(why(lambda: cut("y = x * 2", "return -y", ["x"], "y", where="Trainer.score")))
say(why(lambda: cut("y = x * 2", "y = x * 2", ["x"], "return", where="Trainer.score")))
say(why(lambda: cut("z = x", "yield z", ["x"], "z", where="Trainer.stream")))
say(why(lambda: cut("super()", "super()", ["self", "z"], "z", where="Trainer.stream")))
say(why(lambda: cut("await x", "await x", ["x"], "x", where="Trainer.wait")))
`,
    FILES,
  );
  expect(answers).toEqual([
    'SliceError: trainer.py: line 13, `continue`, continues a loop that begins before the stretch: begin with that loop, or end before this',
    'SliceError: trainer.py: line 37, `return y`, returns: end before it, or say outputs="return"',
    'SliceError: trainer.py: outputs="return", but the stretch has no return',
    'SliceError: trainer.py: line 42, `yield z`, yields: call the generator itself, or end the stretch before it',
    'SliceError: trainer.py: line 43, `super().stream(z)`, calls super(), which works in the method alone: cut a stretch without it',
    'SliceError: trainer.py: line 46, `await x`, awaits: cut a stretch without it',
  ]);
});

test('every name that is missing is said at once, with where it comes from', async () => {
  const answers = await said(
    `
from lossproof.testing import slice_of
def cut(begin, end, inputs, outputs):
    return slice_of("trainer.py", "Trainer.train", begin, end, inputs, outputs)
say(why(lambda: cut("rewards:", "loss = loss * SCALE", ["batch"], "loss")))
say(why(lambda: cut("total +=", "total +=", ["advantages"], "total")))
say(why(lambda: cut("mean =", "mean =", ["rewards"], ["mean", "means"])))
say(why(lambda: cut("mean =", "mean =", ["rewards"], [])))
say(why(lambda: cut("mean =", "mean =", ["self.rewards"], "mean")))
`,
    FILES,
  );
  expect(answers).toEqual([
    'SliceError: trainer.py: lines 15 to 27 read total, self of Trainer.train: add to inputs; and SCALE, math (import math) of the file: give in namespace',
    'SliceError: trainer.py: lines 22 to 22 read total of Trainer.train: add to inputs',
    'SliceError: trainer.py: lines 16 to 16 of Trainer.train set no means; they set mean',
    'SliceError: slice_of without outputs: name what the stretch computes, or outputs="return"',
    "SliceError: slice_of: 'self.rewards' is no name of a variable",
  ]);
});

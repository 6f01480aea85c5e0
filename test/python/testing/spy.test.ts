// Calls seen from outside: what is recorded, what stands in, and where the block ends; and that nothing stays behind.
import { expect, test } from 'vitest';
import { said } from './script.ts';

const TRAINER = {
  'trainer.py': `
from math import floor

class Trainer:
    log = []
    def __init__(self): self.steps = 0
    def logps(self, model, ids, temperature=1.0): return [model * i / temperature for i in ids]
    def step(self, ids):
        try:
            found = self.logps(2.0, ids, temperature=0.5)
            self.update(found)
        except Exception:
            self.log.append("swallowed")
        self.steps += 1
        return floor(sum(found))
    def update(self, values): self.log.append(values)
    @staticmethod
    def plain(x): return x + 1
    @classmethod
    def made(cls, x): return (cls.__name__, x)
    @property
    def size(self): return 3

class Child(Trainer): pass

class Rude(Trainer):
    def step(self, ids):
        try: self.update(ids)
        except: pass
        self.steps += 1
`,
};

test('calls of an object, a class and a module are recorded, with arguments by name', async () => {
  const answers = await said(
    `
import trainer
from lossproof.testing import spy
t = trainer.Trainer()
with spy(t, "logps") as calls, spy(trainer, "floor") as floors, spy(trainer.Trainer, "update") as updates:
    say(t.step([1, 2]))
say([calls.only["ids"], calls.only["temperature"], calls.only["model"], calls.only.result])
say([floors.only.args[0], floors.only.result])
say(updates.only.args[0] is t)
with spy(t, "logps") as calls:
    t.logps(1.0, [1])
say(calls.only["temperature"])
say([sorted(vars(t)), "update" in vars(trainer.Trainer), t.step([1, 2])])
`,
    TRAINER,
  );
  expect(answers).toEqual([12, [[1, 2], 0.5, 2, [4, 8]], [12, 12], true, 1, [['steps'], true, 12]]);
});

test('a call may be answered by a value or a function', async () => {
  const answers = await said(
    `
from trainer import Trainer
from lossproof.testing import spy
t = Trainer()
with spy(t, "logps", returns=[7.9]) as calls:
    say(t.step([1]))
say(calls.only.result)
with spy(t, "logps", instead=lambda model, ids, temperature: [temperature]):
    say(t.step([1]))
`,
    TRAINER,
  );
  expect(answers).toEqual([7, [7.9], 0]);
});

test('the block ends at the call, through an except Exception, before it runs or when it has answered', async () => {
  const answers = await said(
    `
from trainer import Trainer
from lossproof.testing import spy
t = Trainer()
with spy(t, "update", stop=True) as calls:
    t.step([1, 2])
    say("not reached")
say([calls.only["values"], t.steps, t.log, calls.stopped, why(lambda: calls.only.result)])
with spy(t, "logps", stop="after") as calls:
    t.step([1, 2])
say([calls.only.result, t.steps])
with spy(t, "logps", stop=True) as outer:
    with spy(t, "update", stop=True) as inner:
        t.step([1])
    say("not reached either")
say([len(outer), len(inner), outer.stopped, inner.stopped])
`,
    TRAINER,
  );
  expect(answers).toEqual([
    [
      [4, 8],
      0,
      [],
      true,
      'ValueError: Trainer.update returned nothing: it raised, or was stopped before it ran',
    ],
    [[4, 8], 0],
    [1, 0, true, false],
  ]);
});

test('code that catches everything is not allowed to go on in silence', async () => {
  const answers = await said(
    `
from trainer import Rude
from lossproof.testing import spy
def run():
    with spy(Rude, "update", stop=True):
        Rude().step([1])
say(why(run))
say(why(lambda: Rude().step([1])))
`,
    TRAINER,
  );
  expect(answers).toEqual([
    'RuntimeError: Rude.update was to stop there, but the code caught that (`except:` or `except BaseException:`) and went on',
    'returned None',
  ]);
});

test('static methods, class methods and what is inherited stay what they are', async () => {
  const answers = await said(
    `
from trainer import Trainer, Child
from lossproof.testing import spy
with spy(Trainer, "plain") as plain, spy(Trainer, "made") as made, spy(Child, "update") as update:
    say([Trainer.plain(1), Trainer().plain(2), list(Child.made(3)), list(Trainer.made(4))])
    Child().update(5)
    Trainer().update(6)
say([len(plain), [call.args[0].__name__ for call in made], len(update)])
say([type(vars(Trainer)["plain"]).__name__, type(vars(Trainer)["made"]).__name__, "update" in vars(Child)])
`,
    TRAINER,
  );
  expect(answers).toEqual([
    [2, 3, ['Child', 3], ['Trainer', 4]],
    [2, ['Child', 'Trainer'], 1],
    ['staticmethod', 'classmethod', false],
  ]);
});

test('what cannot be seen is refused, in one sentence', async () => {
  const answers = await said(
    `
from trainer import Trainer
from lossproof.testing import spy
def enter(*args, **options):
    with spy(*args, **options) as calls: pass
    return calls.only
t = Trainer()
say(why(lambda: enter(t, "logp")))
say(why(lambda: enter(t, "__call__")))
say(why(lambda: enter(Trainer, "size")))
say(why(lambda: enter(t, "steps")))
say(why(lambda: enter(t, "step", returns=1, instead=print)))
say(why(lambda: enter(t, "step", stop="before")))
say(why(lambda: enter(t, "step")))
`,
    TRAINER,
  );
  expect(answers).toEqual([
    'AttributeError: there is no Trainer.logp; there is logps',
    "ValueError: Python looks Trainer.__call__ up on the class: spy(type(...), '__call__')",
    'ValueError: Trainer.size is a property, and not called; replaced(object, size=...) sets it',
    'ValueError: Trainer.steps is of type int, and not called',
    'ValueError: spy: returns is a value, instead a function; give one of them',
    `ValueError: stop='before': True, or "after" for when the call has answered`,
    'ValueError: Trainer.step was called 0 times inside the block, not once',
  ]);
});

test('attributes are put back as they were, also where one of them cannot be set', async () => {
  const answers = await said(
    `
from lossproof.testing import replaced
class Slots:
    __slots__ = ("a",)
class Own:
    b = 1
    def __init__(self): self.c = 2
    @property
    def d(self): return 3
class Dynamic:
    "As torch.nn.Module keeps what is registered."
    def __init__(self): object.__setattr__(self, "kept", {"head": 1})
    def __getattr__(self, name):
        try: return self.kept[name]
        except KeyError: raise AttributeError(name)
    def __setattr__(self, name, value): self.kept[name] = value
    def __delattr__(self, name): del self.kept[name]
s, o, y = Slots(), Own(), Dynamic()
s.a = 5
with replaced(s, a=6), replaced(o, b=7, c=8, e=9), replaced(Own, b=10), replaced(y, head=2, new=3):
    say([s.a, o.b, o.c, o.e, Own.b, y.head, y.new])
say([s.a, vars(o), Own.b, y.kept])
def run():
    with replaced(o, c=11, d=12): pass
say(why(run).split(":")[0])
say(vars(o))
`,
  );
  expect(answers).toEqual([
    [6, 7, 8, 9, 10, 2, 3],
    [5, { c: 2 }, 1, { head: 1 }],
    'AttributeError',
    { c: 2 },
  ]);
});

test('importing lossproof.testing takes the standard library alone', async () => {
  const answers = await said(`
import lossproof.testing
say(sorted(set(name.split(".")[0] for name in sys.modules) & {"torch", "numpy", "transformers", "jinja2"}))
say(why(lambda: lossproof.testing.table))
`);
  expect(answers).toEqual([
    [],
    'AttributeError: lossproof.testing has no table; it has Codec, Settings, Table, drawn_from, in_part, instance, recorded_backward, replaced, slice_of, spy, stub',
  ]);
});

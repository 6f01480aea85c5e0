// Imports of what is not installed: everything that a file does with a package while it is imported, and the sentence where
// the package is needed after all.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { said } from './script.ts';

const TRAINER = `
from __future__ import annotations
import abc, importlib.util, typing
import vllm
import vllm.lora.request as requests
from vllm import LLM, SamplingParams
from vllm.distributed import parallel_state
from flash_attn.bert_padding import index_first_axis, pad_input as pad
try:
    from vllm import *
    import triton
except ImportError:
    triton = None

logger = vllm.logger.init_logger(__name__)
FOUND = importlib.util.find_spec("vllm") is not None and importlib.util.find_spec("flash_attn.layers") is not None
Engine = typing.Optional[LLM]

@vllm.jit
def kernel(x): return x + 1

@vllm.autotune(configs=[vllm.Config({"B": size}) for size in (32, 64)], key=["n"])
@vllm.jit(debug=True)
def tuned(x): return x + 2

class Generator(LLM, abc.ABC):
    params: SamplingParams[int] | None = None
    @vllm.utils.cached
    def size(self) -> LLM: return 3

class Bare(vllm.Worker):
    def __init__(self): self.ready = True

def is_engine(x): return isinstance(x, (LLM, requests.LoRARequest))

def generate(prompts):
    llm = LLM(model="m")
    return [out.text for out in llm.generate(prompts)]

def guarded():
    try: raise ValueError("mine")
    except vllm.EngineDeadError: return "theirs"
    except ValueError: return "mine"
`;

test('a file that leans on two absent packages is imported, and the rest of it works', async () => {
  const answers = await said(
    `
from lossproof.testing import stub
stub(["vllm", "flash_attn"])
import trainer
say([trainer.kernel(1), trainer.tuned(1), trainer.Bare().ready, trainer.Bare.__name__, trainer.Generator.size(None)])
say([trainer.is_engine(3), isinstance(trainer.Bare(), trainer.vllm.Worker), issubclass(trainer.Generator, trainer.LLM)])
say([trainer.FOUND, trainer.triton, trainer.vllm.__version__, trainer.guarded()])
say([trainer.LLM is trainer.vllm.LLM, repr(trainer.LLM), repr(trainer.Bare), repr(trainer.logger)])
say(trainer.requests.__name__)
`,
    { 'trainer.py': TRAINER },
  );
  expect(answers).toEqual([
    [2, 3, true, 'Bare', 3],
    [false, true, true],
    [true, null, '0.0.0', 'mine'],
    [true, '<stub of vllm.LLM>', "<class 'trainer.Bare'>", '<stub of vllm.logger.init_logger()>'],
    'vllm.lora.request',
  ]);
});

test('what is needed after all raises a sentence that names it and the place', async () => {
  const answers = await said(
    `
from lossproof.testing import stub
stub(["vllm", "flash_attn"])
import trainer
say(why(lambda: trainer.generate(["a"])))
say(why(trainer.Generator))
say(why(lambda: trainer.pad(1)))
say(why(lambda: [trainer.LLM.chat() for _ in range(1)]))
say(why(lambda: trainer.logger.info("x")))
say(why(lambda: bool(trainer.logger)))
class Fake:
    def __init__(self, model): pass
    def generate(self, prompts): return [type("Out", (), {"text": p + "!"}) for p in prompts]
trainer.LLM = Fake
say(trainer.generate(["a"]))
`,
    { 'trainer.py': TRAINER },
  );
  const sentence = (what: string, name: string, set: string): unknown =>
    expect.stringMatching(
      new RegExp(
        `^Stubbed: ${what} \\(.*(trainer|main)\\.py:\\d+\\), and ${name} is a stub of lossproof\\.testing: say what should answer \\(\`${set}`,
      ),
    );
  expect(answers).toEqual([
    sentence('vllm\\.LLM was called', 'vllm', 'import vllm; vllm\\.LLM = '),
    sentence('vllm\\.LLM was to be initialised', 'vllm', 'import vllm; vllm\\.LLM = '),
    sentence(
      'flash_attn\\.bert_padding\\.pad_input was called',
      'flash_attn',
      'import flash_attn\\.bert_padding; ',
    ),
    sentence('vllm\\.LLM\\.chat was called', 'vllm', 'import vllm; vllm\\.LLM\\.chat = '),
    sentence(
      'vllm\\.logger\\.init_logger\\(\\)\\.info was called',
      'vllm',
      'import vllm; vllm\\.logger\\.init_logger = ',
    ),
    sentence('vllm\\.logger\\.init_logger\\(\\) was used as a value', 'vllm', 'import vllm; '),
    ['a!'],
  ]);
});

test('what is installed is left alone, unless always; and everything is put back behind the block', async () => {
  const answers = await said(
    `
import importlib.metadata, importlib.util
from lossproof.testing import stub
real = sys.modules.get("json")
with stub(["json", "vllm", "own.deep"]):
    import json as again, vllm, own.deep.er
    say([again is real, own.here, repr(own.deep.er.X), own.deep.er.__name__])
say(["vllm" in sys.modules, "own.deep" in sys.modules, importlib.util.find_spec("vllm") is None])
with stub({"json": "9.1"}, always=True):
    import json as fake
    say([fake is real, fake.__version__, importlib.metadata.version("json")])
import json as back
say(back is real)
stub({"flash-attn": "2.5.6", "flash_attn": "2.5.6"})
say([importlib.metadata.version("flash_attn"), why(lambda: importlib.metadata.version("absent-thing"))])
list(importlib.metadata.distributions())
say(why(lambda: stub("vllm")))
import flash_attn
flash_attn.answer = lambda x: x * 2
from flash_attn import answer
say(answer(4))
`,
    { 'own.py': 'here = 1\n__path__ = []\n' },
  );
  expect(answers).toEqual([
    [true, 1, '<stub of own.deep.er.X>', 'own.deep.er'],
    [false, false, true],
    [false, '9.1', '9.1'],
    true,
    ['2.5.6', expect.stringMatching(/^PackageNotFoundError/)],
    "TypeError: stub takes a list: stub(['vllm'])",
    8,
  ]);
});

const OTHERS = ['3.9.18', '3.13.0'].map((version) =>
  join(homedir(), '.pyenv', 'versions', version, 'bin', 'python'),
);

test.each(OTHERS.filter((python) => existsSync(python)))('the same on %s', async (python) => {
  const answers = await said(
    `
from lossproof.testing import slice_of, spy, stub
stub(["vllm", "flash_attn"])
import trainer
cut = slice_of("trainer.py", "generate", "return [out", "return [out", ["llm", "prompts"], "return")
class Fake:
    def generate(self, prompts): return [type("Out", (), {"text": p}) for p in prompts]
say([trainer.tuned(1), cut(Fake(), ["b"])])
with spy(trainer, "kernel", stop=True) as calls:
    trainer.kernel(5)
say(calls.only["x"])
`,
    { 'trainer.py': TRAINER },
    python,
  );
  expect(answers).toEqual([[3, ['b']], 5]);
});

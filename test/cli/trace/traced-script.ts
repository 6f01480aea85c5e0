// A script for tests of `trace` that needs no torch: it writes the records that the tracer would write of a training, by
// its first argument a right one or a faulty one. Its rows are conversations in a family's own template.
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { talk } from '../../report/traced-run.ts';
import type { World } from '../world.ts';

/** `python3 train.py MODE`; `rows.json` and the tokenizer lie beside it. */
export function writeScript(world: Pick<World, 'folder' | 'write'>): void {
  world.write('train.py', SCRIPT);
  cpSync(familyFolder('qwen'), join(world.folder, 'qwen'), { recursive: true });
  const rows = [talk('Which is 日本?', 'A country.'), talk('Hi', 'Hello!')];
  writeFileSync(join(world.folder, 'rows.json'), JSON.stringify(rows));
}

/** Python: where the records go, and how one and its tensors are written. */
export const RECORDS = `
import base64, json, os, shutil, struct, sys

folder = os.environ["LOSSPROOF_TRACE"]
out = open(os.path.join(folder, "0-4711.ndjson"), "a", encoding="utf-8")

def write(kind, **fields):
    out.write(json.dumps({"kind": kind, **fields}) + "\\n")
    out.flush()

def tensor(values, shape, code="i"):
    data = base64.b64encode(struct.pack(f"<{len(values)}{code}", *values)).decode()
    return {"dtype": "int32" if code == "i" else "float32", "shape": shape, "data": data}
`;

/** Python: the records of a model and its tokenizer, which lies beside the script. */
export const MODEL = `
write("model", model=0, **{"class": "LlamaForCausalLM"}, head="lm_head", vocab_size=900, hidden_size=16, parameters=29000, dtype="float32", positions="rotary", name="")
shutil.copytree("qwen", os.path.join(folder, "tokenizer-0"))
write("tokenizer", folder="tokenizer-0", **{"class": "Qwen2TokenizerFast"}, vocab_size=859, pad_token_id=856, eos_token_id=858, bos_token_id=None)
`;

const SCRIPT = `
import signal, time
${RECORDS}
mode = sys.argv[1]

def end(reason, exception=None, torch=True):
    write("end", reason=reason, exception=exception, torch=torch, modules_called=torch, tracer_seconds=0.01, seconds=1.0)

write("process", trace=1, pid=4711, rank=0, world=1, argv=["train.py", mode], python="3.11.2", started="2026-03-01T09:30:00.000Z")
# Its terminal is ours, and in tests that of the test runner.
sys.stdout = sys.stderr = open(os.devnull, "w")
if mode == "no-torch":
    end("finished", torch=False)
    sys.exit(0)
write("versions", versions={"torch": "2.13.0", "transformers": "5.18.0"}, device="cpu")
if mode == "early":
    end("exception", "FileNotFoundError: no data.jsonl")
    raise FileNotFoundError("no data.jsonl")
if mode == "compiled":
    write("blind", what="compiled", sentence="The model is compiled as a whole, so that no forward pass of it can be seen; train without torch.compile for the traced steps.")
    end("finished")
    sys.exit(0)

${MODEL}
with open("rows.json", encoding="utf-8") as file:
    rows = json.load(file)
width = max(len(row["ids"]) for row in rows)
padded = [row["ids"] + [856] * (width - len(row["ids"])) for row in rows]
mask = [[1] * len(row["ids"]) + [0] * (width - len(row["ids"])) for row in rows]
trained = []
for at, row in enumerate(rows):
    ids, prompt = row["ids"], row["prompt"]
    stop = len(ids) - 1 - ids[::-1].index(858)
    last = stop - 1 if mode == "stop" else stop
    trained += [(at, column - 1, ids[column]) for column in range(prompt, last + 1)]
n = len(trained)
steps = 1 if mode in ("late", "killed", "waits") else 2
for step in range(steps):
    write("forward", forward=step, model=0, step=step, grad=True, training=True,
          input_ids=tensor(sum(padded, []), [len(rows), width]), attention_mask=tensor(sum(mask, []), [len(rows), width]),
          attention="mask", position_ids=None, labels=None, logprobs=None, averaged_over=1, adapters_off=False)
    write("trained", forward=step, route="logits", dtype="float32", rows=tensor([t[0] for t in trained], [n]),
          columns=tensor([t[1] for t in trained], [n]), targets=tensor([t[2] for t in trained], [n]),
          weights=tensor([1 / n] * n, [n], "f"), residuals=tensor([1e-7] * n, [n], "f"),
          temperatures=tensor([1.0] * n, [n], "f"), logprobs=tensor([-3.0] * n, [n], "f"), not_finite=0)
    write("step", step=step, optimizer="AdamW", models=[0], gradient_norm=1.5, changed=True, learning_rates=[1e-3])
if mode == "killed":
    out.write('{"kind": "forw')
    out.flush()
    os.kill(os.getpid(), signal.SIGKILL)
if mode == "waits":
    open("stepped", "w").close()
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        with open("ended", "w") as file:
            file.write("by itself")
        end("exception", "KeyboardInterrupt")
        sys.exit(130)
if mode == "late":
    end("exception", "RuntimeError: out of memory")
    raise RuntimeError("out of memory")
end("steps")
`;

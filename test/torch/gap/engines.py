"""The same tiny Llama in two code bases: ONNX Runtime samples, transformers scores. FOLDER/model, and FOLDER/ENGINE-TRAINER.jsonl for each dtype
of either that runs here; FOLDER/warm.jsonl: ONNX Runtime at temperature 0.7 in float32. Standard output has what ran, as JSON."""

import copy
import json
import sys

import llama_onnx
import numpy
import onnxruntime
import torch
import transformers

PROMPTS, GROUP, LENGTH = 15, 4, 24
VOCABULARY = 128
DTYPES = ("float32", "float16", "bfloat16")
# ONNX Runtime's kernels for processors have no bfloat16: its weights are rounded to it, and what is computed is in float32.
ENGINES = {"float32": "float32", "float16": "float16", "bfloat16": "bfloat16", "bfloat16 weights": "float32"}

torch.manual_seed(7)
torch.set_num_threads(1)
config = transformers.LlamaConfig(
    vocab_size=VOCABULARY,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=3,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
)
model = transformers.LlamaForCausalLM(config).eval()
with torch.no_grad():
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.normal_(0, 0.2)
folder = sys.argv[1]
model.save_pretrained(f"{folder}/model")


def engine_of(name):
    """None where ONNX Runtime has no kernels for it on this machine."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    # Fusions may compute in another dtype than the graph says.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    own = copy.deepcopy(model).to(torch.bfloat16) if name == "bfloat16 weights" else model
    try:
        graph = llama_onnx.exported(own, ENGINES[name])
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # It names the operator.
        print(f"{name}: {error}", file=sys.stderr)
        return None


def sampled(engine, prompts, temperature):
    """Each row by itself, without a cache: (completions, log-probabilities)."""
    ids = [[], []]
    for prompt in prompts:
        row, logprobs = list(prompt), []
        for _ in range(LENGTH):
            logits = engine.run(None, {"ids": numpy.array([row], dtype=numpy.int64)})[0][0, -1] / temperature
            own = torch.from_numpy(logits).log_softmax(-1)
            row.append(int(torch.multinomial(own.exp(), 1)))
            logprobs.append(float(own[row[-1]]))
        ids[0].append(row[len(prompt) :])
        ids[1].append(logprobs)
    return ids


@torch.inference_mode()
def scored(trainer, prompts, completions):
    answers = []
    for prompt, completion in zip(prompts, completions):
        logits = trainer(input_ids=torch.tensor([[*prompt, *completion]])).logits[0, len(prompt) - 1 : -1]
        answers.append(logits.float().log_softmax(-1).gather(-1, torch.tensor(completion)[:, None])[:, 0].tolist())
    return answers


def write(name, prompts, completions, engine, trainer):
    with open(f"{folder}/{name}.jsonl", "w", encoding="utf-8") as file:
        for prompt, ids, one, other in zip(prompts, completions, engine, trainer):
            row = {"prompt_ids": prompt, "completion_ids": ids, "rollout_log_probs": one, "old_log_probs": other}
            file.write(json.dumps(row) + "\n")


prompts = [torch.randint(0, VOCABULARY, (3 + at,)).tolist() for at in range(PROMPTS) for _ in range(GROUP)]
trainers = {dtype: transformers.LlamaForCausalLM.from_pretrained(f"{folder}/model", dtype=getattr(torch, dtype)).eval() for dtype in DTYPES}
ran = []
for dtype in ENGINES:
    engine = engine_of(dtype)
    if engine is None:
        continue
    ran.append(dtype)
    completions, logprobs = sampled(engine, prompts, 1.0)
    for other, trainer in trainers.items():
        write(f"{dtype}-{other}", prompts, completions, logprobs, scored(trainer, prompts, completions))
    if dtype == "float32":
        completions, logprobs = sampled(engine, prompts, 0.7)
        write("warm", prompts, completions, logprobs, scored(trainers["float32"], prompts, completions))
versions = {"onnxruntime": onnxruntime.__version__, "transformers": transformers.__version__}
print(json.dumps({"engines": ran, "trainers": list(DTYPES), "versions": versions}))

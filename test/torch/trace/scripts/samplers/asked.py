"""A policy gradient over what an engine, or a server, sampled. `--fault` plants one mistake."""

import argparse
import json
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pieces
import tiny

sys.path.insert(0, str(Path(__file__).parent / "engines"))
from elsewhere import STRING, sampled  # noqa: E402
from learning import FAULTS, Learner  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--by", choices=["vllm", "sglang", "requests", "httpx", "urllib", "trl", "text"], default="vllm")
parser.add_argument("--pieces", choices=["whole", "cumulative", "delta", "broken", "at-once"], help="of an engine that is asked asynchronously")
parser.add_argument("--ends", choices=["tokens", "strings", "context"], default="tokens")
parser.add_argument("--fault", choices=FAULTS)
parser.add_argument("--beta", type=float, default=0.0)
options = parser.parse_args()

GROUP, LENGTH, TEMPERATURE = 4, 8, 0.7
STOP = STRING if options.ends == "strings" else None
# Prompt and completion together: the longest prompt leaves the fewest tokens.
CONTEXT = 20 if options.ends == "context" else 100
tokenizer = tiny.letters()
ENCODED = [tokenizer.encode("say " + text, add_special_tokens=False) for text in ("abc", "hello", "a longer one")]


class Handler(BaseHTTPRequestHandler):
    """An OpenAI completions server that answers token ids, and TRL's beside it."""

    def do_POST(self):  # noqa: N802
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asks = [(ids, asked["seed"] + at) for ids in asked["prompt"] for at in range(asked["n"])]
        rows = [(ids, sampled(ids, tokenizer, min(LENGTH, CONTEXT - len(ids)), seed, asked.get("stop"))) for ids, seed in asks]
        if options.by == "trl":
            answer = {"prompt_ids": asked["prompt"], "completion_ids": [completion for _, (completion, _) in rows]}
        elif options.by == "text":
            answer = {"choices": [{"text": tokenizer.decode(completion)} for _, (completion, _) in rows]}
        else:
            names = ("prompt_token_ids", "token_ids", "finish_reason")
            choices = [(ids, completion, "length" if end is None else "stop") for ids, (completion, end) in rows]
            answer = {"object": "text_completion", "choices": [dict(zip(names, choice)) for choice in choices]}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def served():
    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d/v1/completions" % server.server_port


def engine():
    """seed -> completions of all prompts, GROUP of each."""
    repeated = [ids for ids in ENCODED for _ in range(GROUP)]
    if options.by == "vllm":
        params = dict(temperature=TEMPERATURE, top_p=0.9, max_tokens=LENGTH, stop=STOP)
        if options.pieces:
            return pieces.vllm(options.pieces, ENCODED, GROUP, params)
        from vllm.entrypoints.llm import LLM
        from vllm.sampling_params import SamplingParams

        llm, prompts = LLM("tiny"), [{"prompt_token_ids": ids} for ids in ENCODED]
        asked = dict(params, n=GROUP)
        return lambda seed: [one.token_ids for each in llm.generate(prompts, SamplingParams(**asked, seed=seed)) for one in each.outputs]
    if options.by == "sglang":
        params = dict(temperature=TEMPERATURE, max_new_tokens=LENGTH, stop=STOP)
        if options.pieces:
            return pieces.sglang(options.pieces, ENCODED, GROUP, params)
        from sglang.srt.entrypoints.engine import Engine

        server = Engine(model_path="tiny")
        return lambda seed: [each["output_ids"] for each in server.generate(input_ids=repeated, sampling_params=dict(params, sampling_seed=seed))]
    url, body = served(), dict(model="tiny", prompt=ENCODED, n=GROUP, temperature=TEMPERATURE, max_tokens=LENGTH, stop=STOP, return_token_ids=True)

    def post(seed):
        asked = dict(body, seed=seed)
        if options.by == "httpx":
            import httpx

            answer = httpx.post(url, json=asked, trust_env=False).json()
        elif options.by == "urllib":
            data, headers = json.dumps(asked).encode(), {"Content-Type": "application/json"}
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            answer = json.load(opener.open(urllib.request.Request(url, data=data, headers=headers)))
        else:
            import requests

            session = requests.Session()
            session.trust_env = False
            answer = session.post(url, json=asked).json()
        if options.by == "text":
            return [tokenizer.encode(each["text"], add_special_tokens=False) for each in answer["choices"]]
        return answer["completion_ids"] if options.by == "trl" else [each["token_ids"] for each in answer["choices"]]

    return post


policy, reference = tiny.rotary(len(tokenizer)), tiny.rotary(len(tokenizer), seed=5)
scoring = 1.0 if options.fault == "temperature" else TEMPERATURE
learner = Learner(policy, reference, lambda net, ids, mask: net(ids, attention_mask=mask).logits, tokenizer, scoring, options)
sample = engine()
for step in range(2):
    completions = sample(10 * step)
    rows = [(ids + completion, len(ids)) for ids, completion in zip([ids for ids in ENCODED for _ in range(GROUP)], completions)]
    # Beyond the stop stands what fills the batch up.
    rows = [(ids + [tokenizer.pad_token_id] * (start + LENGTH - len(ids)), start) if options.fault == "past-the-stop" else (ids, start) for ids, start in rows]
    print("step", step, "loss", learner.step(rows, GROUP))

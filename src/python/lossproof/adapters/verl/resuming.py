"""Op partial_rollout: FullyAsyncLLMServerClient.generate, which goes on after its server was interrupted."""

import asyncio
from types import SimpleNamespace

import lossproof
from lossproof.adapters.verl._parts import servers
from lossproof.testing import instance, replaced


class Interrupted:
    """LLMServerClient.generate: the first answer is the part that was sampled before, the second goes on from it."""

    def __init__(self, partial, partial_logprobs, partial_version, sampled, logprobs, version):
        self.answers = [(partial, partial_logprobs, partial_version, "aborted"), (sampled, logprobs, version, "completed")]
        self.asked = []

    async def generate(self, _client, prompt_ids, sampling_params, **_):
        ids, logprobs, version, reason = self.answers[len(self.asked)]
        self.asked.append((list(prompt_ids), sampling_params["max_tokens"]))
        room = sampling_params["max_tokens"]
        return servers.TokenOutput(
            token_ids=ids[:room], log_probs=logprobs[:room], stop_reason=reason, extra_fields={"global_steps": version}
        )


async def at_once(_seconds):
    """There is nothing to wait for."""


def resumed(prompt, budget, *answers):
    """(What the engine was asked the second time, verl's TokenOutput)."""
    engine = Interrupted(*answers)
    client = instance(servers.FullyAsyncLLMServerClient, config=SimpleNamespace(), _only_hybrid=False)
    run = client.generate("row", prompt_ids=list(prompt), sampling_params={"max_tokens": budget})
    with replaced(servers.LLMServerClient, generate=lambda self, **asked: engine.generate(self, **asked)):
        with replaced(servers, asyncio=SimpleNamespace(sleep=at_once)):
            output = asyncio.run(run)
    return engine.asked[-1], output


@lossproof.op
def partial_rollout(
    prompt_ids, partial_ids, partial_logprobs, partial_versions, sampled_ids, sampled_logprobs, version, max_new_tokens
):
    rows = zip(prompt_ids, partial_ids, partial_logprobs, partial_versions, sampled_ids, sampled_logprobs)
    made = [
        resumed(prompt, max_new_tokens, part, logprobs, max(versions, default=version), sampled, sampled_logprob, version)
        for prompt, part, logprobs, versions, sampled, sampled_logprob in rows
    ]
    return {
        "input_ids": [ids for (ids, _), _ in made],
        "max_new_tokens": [room for (_, room), _ in made],
        "completion_ids": [output.token_ids for _, output in made],
        "logprobs": [output.log_probs for _, output in made],
    }

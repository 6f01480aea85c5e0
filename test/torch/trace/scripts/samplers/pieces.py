"""Engines that are asked asynchronously, or answer in pieces: each way to ask is a function of a seed."""

import asyncio

# Where a script of its own mind breaks off.
ENOUGH = 5


def vllm(way, prompts, group, params):
    from vllm.sampling_params import RequestOutputKind, SamplingParams
    from vllm.v1.engine.async_llm import AsyncLLM

    engine, loop = AsyncLLM(None), asyncio.new_event_loop()
    kind = RequestOutputKind.DELTA if way == "delta" else RequestOutputKind.CUMULATIVE
    several = 1 if way == "broken" else group

    async def asked(prompt, seed):
        answers = [[] for _ in range(several)]
        params_of = SamplingParams(**params, n=several, seed=seed, output_kind=kind)
        async for output in engine.generate({"prompt_token_ids": prompt}, params_of, str(seed)):
            for one in output.outputs:
                answers[one.index] = answers[one.index] + one.token_ids if way == "delta" else one.token_ids
            if way == "broken" and len(answers[0]) == ENOUGH:
                break
        return answers

    async def all_asked(seed):
        requests = [asked(prompt, seed + 100 * at) for prompt in prompts for at in range(group // several)]
        return [answer for answers in await asyncio.gather(*requests) for answer in answers]

    # One loop for all steps: of what was broken off in the last one it never hears.
    return lambda seed: loop.run_until_complete(all_asked(seed))


def sglang(way, prompts, group, params):
    from sglang.srt.entrypoints.engine import Engine

    engine, repeated = Engine(model_path="tiny"), [prompt for prompt in prompts for _ in range(group)]

    def asked(seed):
        return dict(input_ids=repeated, sampling_params=dict(params, sampling_seed=seed), stream=way != "whole")

    async def later(seed):
        output = await engine.async_generate(**asked(seed))
        return output if way == "whole" else [each async for each in output]

    def answers(seed):
        outputs = list(engine.generate(**asked(seed))) if way == "at-once" else asyncio.run(later(seed))
        known = {each.get("index", at): each["output_ids"] for at, each in enumerate(outputs)}
        return [known[at] for at in sorted(known)]

    return answers

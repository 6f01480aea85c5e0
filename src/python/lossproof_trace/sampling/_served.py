"""Servers that sample: answers to requests, in the shape of the OpenAI completions API with token ids beside the text (vLLM's
return_token_ids), or of TRL's server. Seen as requests, httpx and http.client hand them to the script."""

import functools
import json
import sys
import threading

from . import _engines
from ._answered import Answer, ids, tell

# Longer answers are not looked at.
LONGEST = 2**26
WORDS = (b"token_ids", b"completion_ids")
_local = threading.local()


def requests(session, module):
    """requests.models: Response.json()."""
    wrap_json(session, module.Response, lambda response: response.request.body)


def httpx(session, module):
    """httpx._models: Response.json()."""
    wrap_json(session, module.Response, lambda response: response.request.content)


def wrap_json(session, owner, body_of):
    original = owner.json

    @functools.wraps(original)
    def watched(self, *args, **kwargs):
        value = original(self, *args, **kwargs)
        if isinstance(value, dict):
            with session.guard("answer"):
                # Some read an answer twice.
                if not getattr(self, "_lossproof_told", False):
                    self._lossproof_told = True
                    tell_answer(session, value, body_of(self))
        return value

    owner.json = watched


def plain(session, module):
    """http.client, as urllib uses it: what is read at once is looked at."""
    connection, response = module.HTTPConnection, module.HTTPResponse
    request, read = connection.request, response.read

    @functools.wraps(request)
    def watched_request(self, method, url, body=None, *args, **kwargs):
        _local.body = body
        return request(self, method, url, body, *args, **kwargs)

    @functools.wraps(read)
    def watched_read(self, amt=None):
        data = read(self, amt)
        # urllib3's answers are looked at as requests hands them over.
        if amt is None and data[:1] == b"{" and len(data) <= LONGEST and any(word in data for word in WORDS):
            caller = sys._getframe(1).f_globals.get("__name__", "")
            with session.guard("answer"):
                if not caller.startswith("urllib3"):
                    tell_answer(session, json.loads(data), getattr(_local, "body", None))
        return data

    connection.request, response.read = watched_request, watched_read


def tell_answer(session, value, body):
    asked = request_of(body)
    answers = of_choices(value, asked) if isinstance(value.get("choices"), list) else of_rows(value)
    if answers and tell(session, "server", answers, functools.partial(setting, asked)):
        for source in ("vllm", "sglang"):
            _engines.heard(session, source)


def request_of(body):
    try:
        asked = json.loads(body) if isinstance(body, (str, bytes)) else {}
    except ValueError:
        asked = {}
    return asked if isinstance(asked, dict) else {}


def setting(asked, name):
    # As servers read a request that says nothing of it.
    return asked.get(name, 1.0 if name == "temperature" and asked else None)


def of_choices(value, asked):
    prompts = asked.get("prompt")
    if ids(prompts):
        prompts = [prompts]
    elif not isinstance(prompts, list) or ids(prompts[0] if prompts else None) is None:
        prompts = None
    choices = [each for each in value["choices"] if isinstance(each, dict)]
    copies = max(1, len(choices) // len(prompts)) if prompts else 1
    answers = []
    for at, choice in enumerate(choices):
        completion = choice.get("token_ids")
        prompt = choice.get("prompt_token_ids") or value.get("prompt_token_ids")
        if not prompt and prompts:
            prompt = prompts[min(at // copies, len(prompts) - 1)]
        answers.append(Answer(prompt, completion, choice.get("stop_reason"), logprobs_of(choice.get("logprobs"))))
    return answers


def logprobs_of(value):
    """One per token: a list of them, the API's {token_logprobs} or {content: [{logprob}]}, or TRL's, each in a list of its own."""
    if isinstance(value, dict):
        value = value.get("token_logprobs") or value.get("content")
    if not isinstance(value, list):
        return None
    first = [each[0] if isinstance(each, list) and len(each) == 1 else each for each in value]
    return [each.get("logprob") if isinstance(each, dict) else each for each in first]


def of_rows(value):
    """As TRL's server has them: prompts, and so many completions of each."""
    prompts, completions = value.get("prompt_ids"), value.get("completion_ids")
    if not isinstance(prompts, list) or not isinstance(completions, list) or not prompts or len(completions) % len(prompts):
        return []
    copies = len(completions) // len(prompts)
    told = value.get("logprobs")
    told = [logprobs_of(each) for each in told] if isinstance(told, list) and len(told) == len(completions) else [None] * len(completions)
    return [Answer(prompts[at // copies], completion, None, told[at]) for at, completion in enumerate(completions)]

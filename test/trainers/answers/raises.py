"""The op raises on the marked case, and the adapter reports it as the protocol says."""
import traceback

import plain


def whiten(rewards):
    return [reward / 0 for reward in rewards]


def answer(request):
    try:
        if plain.is_marked(request):
            whiten(request["args"]["rewards"])
        plain.good(request)
    except ZeroDivisionError as error:
        plain.say(request, error={"message": repr(error), "traceback": traceback.format_exc()})


plain.serve(answer)

"""Answers the marked case under another id."""
import plain


def answer(request):
    plain.good({**request, "id": request["id"] + 100} if plain.is_marked(request) else request)


plain.serve(answer)

"""Answers the marked case twice."""
import plain


def answer(request):
    plain.good(request)
    if plain.is_marked(request):
        plain.good(request)


plain.serve(answer)

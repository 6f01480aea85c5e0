"""A print without newline sticks to the answer of the marked case."""
import plain


def answer(request):
    if plain.is_marked(request):
        plain.write("progress... ")
    plain.good(request)


plain.serve(answer)

"""Prints on the marked case, then answers it well."""
import plain


def answer(request):
    if plain.is_marked(request):
        plain.write("step 13: loss 0.25\n")
    plain.good(request)


plain.serve(answer)

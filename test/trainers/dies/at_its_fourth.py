"""Every process of it dies on the fourth case that it is asked, whichever that is."""
import os

import plain

served = 0


def answer(request):
    global served
    served += 1
    if served == 4:
        os._exit(7)
    plain.good(request)


plain.serve(answer)

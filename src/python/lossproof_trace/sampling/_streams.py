"""Calls of an engine, and what it answers: at once, or in pieces that are joined as they are handed over. Each call is told
once, also where the script breaks off."""

import functools
import time

from ._answered import Answer, tell

# Calls of which the script still gets pieces.
_open = []


class Piece:
    """Ids that a completion has so far, or goes on with. `asked`: what was asked for of it, as the engine takes it; `logprobs`: of
    the ids, None where they came without."""

    def __init__(self, place, prompt, ids, stop, asked, logprobs=None):
        self.place, self.prompt, self.ids, self.stop, self.asked = place, prompt, ids, stop, asked
        self.logprobs = None if logprobs is None else list(logprobs)
        # Some engines go on writing to the list that they hand over.
        self.length = 0 if ids is None else len(ids)

    def answer(self):
        return Answer(self.prompt, None if self.ids is None else self.ids[: self.length], self.stop, self.logprobs)

    def behind(self, before, adds):
        """What is known once it came; `adds`: it holds new ids alone."""
        if before is not None:
            self.prompt = self.prompt or before.prompt
        if adds:
            known = [] if before is None else before.ids
            known.extend(self.ids or ())
            # Of pieces that came without, the joined list has another length, and counts as none.
            self.logprobs = [*((before and before.logprobs) or ()), *(self.logprobs or ())]
            self.ids, self.length = known, len(known)
        return self


class Call:
    """`read`: of what the engine hands over, the pieces in it, and whether they add to those before."""

    def __init__(self, session, source, read, heard):
        self.session, self.source, self.read, self.heard = session, source, read, heard
        self.pieces, self.when, self.done = {}, None, False

    def take(self, output):
        with self.session.guard("engine"):
            if self.done:
                return
            pieces, adds = self.read(output)
            for piece in pieces:
                self.pieces[piece.place] = piece.behind(self.pieces.get(piece.place), adds)
            # When it is told may be any time later.
            self.when = (self.session.step, time.time())

    def tell(self):
        with self.session.guard("engine"):
            done, self.done = self.done, True
            groups = {}
            for _, piece in sorted(self.pieces.items()):
                groups.setdefault(id(piece.asked), (piece.asked, []))[1].append(piece.answer())
            for asked, answers in () if done else groups.values():
                if tell(self.session, self.source, answers, functools.partial(setting, asked), self.when):
                    self.heard(self.session, self.source)


def setting(asked, name):
    # SGLang's are dicts, and what they leave out has its default.
    return asked.get(name, 1.0 if name == "temperature" else None) if isinstance(asked, dict) else getattr(asked, name, None)


def handed(call, output):
    """What the script gets in the place of it."""
    if hasattr(output, "__anext__"):
        return passed_later(call, output)
    if hasattr(output, "__next__"):
        return passed(call, output)
    call.take(output)
    call.tell()
    return output


def passed(call, pieces):
    _open.append(call)
    try:
        for output in pieces:
            call.take(output)
            yield output
    finally:
        ended(call)


async def passed_later(call, pieces):
    _open.append(call)
    try:
        async for output in pieces:
            call.take(output)
            yield output
    finally:
        ended(call)
        if hasattr(pieces, "aclose"):
            await pieces.aclose()


def ended(call):
    if call in _open:
        _open.remove(call)
    call.tell()


def listen(session):
    if tell_open not in session.on_ending:
        session.on_ending.append(tell_open)


def tell_open(session):
    """Of who broke off the loop may never hear."""
    for call in list(_open):
        ended(call)

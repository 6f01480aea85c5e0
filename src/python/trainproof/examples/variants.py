"""Wrong trainers made of right ones: an example with one function replaced, run or listed by name."""

import json
import sys
from dataclasses import dataclass, field

import trainproof
from trainproof import _channel
from trainproof._registry import nearest


@dataclass
class Variant:
    name: str
    title: str
    base: object  # a module with OPS and DECLARED
    ops: dict  # op -> the wrong function
    story: str
    more: dict = field(default_factory=dict)  # further fields of its line in --list
    any_ids: bool = False  # declare no pad and stop ids, so that the harness chooses them

    def listed(self):
        line = {
            "name": self.name,
            "id": self.name,
            "title": self.title,
            "op": next(iter(self.ops)),
            "story": self.story,
        }
        return dict(line, **self.more)

    def serve(self):
        declared = dict(self.base.DECLARED)
        if self.any_ids:
            declared.pop("tokens", None)
        ops = dict(self.base.OPS)
        for op, function in self.ops.items():
            right = ops[op]
            ops[op] = (function, right[1] if isinstance(right, tuple) else {})
        trainproof.serve(name=self.name, ops=ops, **declared)


class Variants(dict):
    """name -> Variant, filled by the decorator."""

    def add(self, name, title, base, *also, any_ids=False, **more):
        """Decorator: this function stands in for the base's op of its own name, or for those in `also`."""

        def register(function):
            ops = {op: function for op in also or (function.__name__,)}
            story = " ".join((function.__doc__ or "").split())
            self[name] = Variant(name, title, base, ops, story, more, any_ids)
            return function

        return register

    def main(self, program):
        """`NAME` serves that trainer; `--list` prints all of them as JSON."""
        asked = sys.argv[1:]
        if asked == ["--list"]:
            return _channel.write(json.dumps([variant.listed() for variant in self.values()]) + "\n")
        if len(asked) != 1 or asked[0] not in self:
            name = asked[0] if asked else ""
            sys.stderr.write(
                "%s: no trainer %r%s; --list names all %d\n" % (program, name, nearest(name, self), len(self))
            )
            raise SystemExit(2)
        self[asked[0]].serve()

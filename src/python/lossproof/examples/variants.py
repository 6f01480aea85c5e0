"""Wrong trainers made of right ones: an example with one function replaced, run or listed by name."""

import json
import sys
from dataclasses import dataclass, field

import lossproof
from lossproof import _channel
from lossproof._registry import nearest


@dataclass
class Variant:
    name: str
    title: str
    base: object  # a module with OPS and DECLARED
    ops: dict  # op -> the wrong function
    story: str
    more: dict = field(default_factory=dict)  # further fields of its line in --list
    any_ids: bool = False  # declare no pad and stop ids, so that the harness chooses them
    row: str = ""  # the catalogue row that it is named after
    rows: tuple = ()  # all catalogue rows that it shows, that one first

    @property
    def id(self):
        return "%s-%s" % (self.row, self.name) if self.row else self.name

    def listed(self):
        line = {
            "name": self.name,
            "id": self.id,
            "title": self.title,
            "rows": list(self.rows),
            "base": getattr(self.base, "__name__", "its own").rpartition(".")[2],
            "op": next(iter(self.ops)),
            "ops": list(self.ops),
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
        lossproof.serve(name=self.id, ops=ops, **declared)


class Variants(dict):
    """id -> Variant, filled by the decorator."""

    def add(self, name, title, base, *also, any_ids=False, row="", rows=(), **more):
        """Decorator: this function stands in for the base's op of its own name, or for those in `also`.

        `row` is the row of the catalogue of bugs that it shows, and begins its id; `rows` names further ones.
        """

        def register(function):
            ops = {op: function for op in also or (function.__name__,)}
            story = " ".join((function.__doc__ or "").split())
            shown = tuple(dict.fromkeys([row] * bool(row) + list(rows)))
            variant = Variant(name, title, base, ops, story, more, any_ids, row, shown)
            if variant.id in self:
                raise ValueError("two wrong trainers are called %r" % variant.id)
            self[variant.id] = variant
            return function

        return register

    def __missing__(self, asked):
        """What is no id may be a row, for its first trainer, or a name without its row."""
        for fits in (
            lambda variant: variant.row == asked,
            lambda variant: asked in variant.rows,
            lambda variant: variant.name == asked,
        ):
            for variant in self.values():
                if fits(variant):
                    return variant
        raise KeyError(asked)

    def main(self, program):
        """`ID` or `ROW` serves that trainer; `--list` prints all of them as JSON."""
        asked = sys.argv[1:]
        if asked == ["--list"]:
            return _channel.write(json.dumps([variant.listed() for variant in self.values()]) + "\n")
        name = asked[0] if asked else ""
        try:
            variant = self[name]
        except KeyError:
            variant = None
        if len(asked) != 1 or variant is None:
            known = list(self) + [one.name for one in self.values()]
            sys.stderr.write(
                "%s: no trainer %r%s; --list names all %d\n"
                % (program, name, nearest(name, known), len(self))
            )
            raise SystemExit(2)
        variant.serve()

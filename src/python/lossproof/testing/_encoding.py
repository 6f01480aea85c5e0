"""What a tokenizer returns: a dict whose fields are attributes too, as of transformers' BatchEncoding."""


class Encoding(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError("the encoding has no %s; it has %s" % (name, ", ".join(self))) from None

    @property
    def data(self):
        return dict(self)

    def to(self, *args, **kwargs):
        for name, value in self.items():
            if hasattr(value, "to"):
                self[name] = value.to(*args, **kwargs)
        return self


# What stands in the columns of padding, where it is not the pad token itself.
FILLS = {"attention_mask": 0, "token_type_ids": 0, "special_tokens_mask": 1}
SAME_WIDTH = {"attention_mask", "token_type_ids", "special_tokens_mask", "offset_mapping"}


def padded(rows, pad_token_id, padding, side, max_length=None, multiple=None):
    """{field: rows} with rows of one width: of the longest (padding True or "longest") or of max_length."""
    ids = rows["input_ids"]
    if padding in (False, None, "do_not_pad"):
        return rows
    width = max_length if padding == "max_length" and max_length is not None else max(map(len, ids), default=0)
    if multiple:
        width = -(-width // multiple) * multiple
    made = {}
    for name, field in rows.items():
        # Only what goes with the ids token by token: transformers leaves labels to the collator.
        if name != "input_ids" and name not in SAME_WIDTH:
            made[name] = field
            continue
        fill = (0, 0) if name == "offset_mapping" else FILLS.get(name, pad_token_id)
        made[name] = [_filled(list(row), fill, width, side) for row in field]
    return made


def _filled(row, fill, width, side):
    padding = [fill] * (width - len(row))
    return padding + row if side == "left" else row + padding


def tensors(fields, kind):
    """The fields as what return_tensors names: "pt", "np" or nothing."""
    if kind is None:
        return fields
    if kind == "np":
        import numpy

        return {name: numpy.array(rows) for name, rows in fields.items()}
    if kind != "pt":
        raise ValueError('return_tensors=%r: the codec has "pt" and "np"' % (kind,))
    import torch

    try:
        return {name: torch.tensor(rows) for name, rows in fields.items()}
    except (ValueError, TypeError):
        raise ValueError("rows of several lengths are no tensor: padding=True pads them") from None

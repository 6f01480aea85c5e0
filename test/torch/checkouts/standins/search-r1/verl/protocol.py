"""The batch that goes from step to step."""

from dataclasses import dataclass, field


class Batch(dict):
    """Tensors of one number of rows."""

    @property
    def batch_size(self):
        return next(iter(self.values())).shape[:1]

    def split(self, size):
        rows = self.batch_size[0]
        return [Batch({name: each[at : at + size] for name, each in self.items()}) for at in range(0, rows, size)]

    def cuda(self):
        return Batch({name: each.cuda() for name, each in self.items()})


@dataclass
class DataProto:
    batch: Batch = None
    non_tensor_batch: dict = field(default_factory=dict)
    meta_info: dict = field(default_factory=dict)

    @classmethod
    def from_dict(cls, tensors, non_tensors=None, meta_info=None):
        return cls(Batch(tensors), dict(non_tensors or {}), dict(meta_info or {}))

    def __len__(self):
        return self.batch.batch_size[0]

    def __getitem__(self, row):
        others = {name: each[row] for name, each in self.non_tensor_batch.items()}
        return DataProto(Batch({name: each[row] for name, each in self.batch.items()}), others, self.meta_info)

    def select(self, batch_keys=None):
        return DataProto(Batch({name: self.batch[name] for name in batch_keys}), {}, self.meta_info)

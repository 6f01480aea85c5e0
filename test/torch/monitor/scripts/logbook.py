"""Metrics as people write them by hand: JSON lines, a CSV file, or TensorBoard's own SummaryWriter."""

import csv
import json


class Logbook:
    """One row per step into `folder`, in the form of that name."""

    def __init__(self, folder, form):
        self.form = form
        self.rows = None
        if form == "tensorboard":
            from torch.utils.tensorboard import SummaryWriter

            self.writer = SummaryWriter(folder)
        else:
            self.file = open("%s/metrics.%s" % (folder, form), "w", encoding="utf-8", newline="")

    def log(self, step, values):
        if self.form == "tensorboard":
            for name, value in values.items():
                self.writer.add_scalar(name, value, step)
        elif self.form == "csv":
            if self.rows is None:
                self.rows = csv.DictWriter(self.file, ["step", *values])
                self.rows.writeheader()
            self.rows.writerow({"step": step, **values})
        else:
            self.file.write(json.dumps({"step": step, **values}) + "\n")

    def close(self):
        (self.writer if self.form == "tensorboard" else self.file).close()

"""The rows of the data set that a trainer is asked for, and which row of the trainer's is made of which."""

import json
import os

# The number of a row, as a column that some trainers hand on.
INDEX = "lossproof_row"


class Given:
    """files: of each file, its rows with their numbers; room: the folder for what is written."""

    def __init__(self, files, room):
        self.files, self.room = files, room
        columns = {name for rows in files for _, row in rows for name in row}
        self.empty = dict.fromkeys(sorted(columns))
        self.count = 0

    def write(self, files, index=False):
        """Each list of rows as a file of JSON lines; index: with the number of each as a column."""
        paths = []
        for rows in files:
            self.count += 1
            paths.append(os.path.join(self.room, "rows-%d.jsonl" % self.count))
            with open(paths[-1], "w", encoding="utf-8") as opened:
                for number, row in rows:
                    opened.write(json.dumps({**row, INDEX: number} if index else row) + "\n")
        return paths

    def numbered(self, make, most=None):
        """The rows that `make` makes of a file per list, in their order, where it may leave some out; most: of each file.

        What is made of too few is made again of each half, until it is plain which row is left out."""
        made = []
        for at, rows in enumerate(self.files):
            made += self._of(at, [(number, {**self.empty, **row}) for number, row in rows[:most]], make)
        return made

    def _of(self, at, rows, make):
        made = make(at, self.write([rows])[0])
        if len(made) == len(rows) or len(rows) == 1:
            numbers = [number for number, _ in rows]
            return [{**row, "number": number} for row, number in zip(made, numbers * len(made))]
        half = len(rows) // 2
        return self._of(at, rows[:half], make) + self._of(at, rows[half:], make) if made else []

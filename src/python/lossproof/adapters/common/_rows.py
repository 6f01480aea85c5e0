"""A dataset in memory with the few methods that TRL's dataset preparation calls, so that one conversation goes through
it in milliseconds. datasets.Dataset does the same through Arrow files and fingerprints, in tenths of a second."""

import pyarrow


class Rows:
    """Rows as dicts; every method returns a new Rows, as datasets' do."""

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)

    def __getitem__(self, at):
        return self.rows[at]

    @property
    def column_names(self):
        return list(self.rows[0]) if self.rows else []

    def map(
        self, function, batched=False, fn_kwargs=None, remove_columns=None, writer_batch_size=None, batch_size=None
    ):
        """What `function` returns is laid over the row's kept columns; batched, over all rows' columns at once."""
        if batched and batch_size is not None and len(self.rows) > batch_size:
            parts = (Rows(self.rows[at : at + batch_size]) for at in range(0, len(self.rows), batch_size))
            return Rows([row for part in parts for row in part.map(function, True, fn_kwargs, remove_columns)])
        removed = {remove_columns} if isinstance(remove_columns, str) else set(remove_columns or ())
        if batched:
            columns = {name: [row[name] for row in self.rows] for name in self.column_names}
            answer = function(dict(columns), **(fn_kwargs or {}))
            columns = {**{name: values for name, values in columns.items() if name not in removed}, **answer}
            return Rows([dict(zip(columns, row)) for row in zip(*columns.values())])
        mapped = []
        for row in self.rows:
            answer = function(dict(row), **(fn_kwargs or {}))
            mapped.append({**{name: value for name, value in row.items() if name not in removed}, **answer})
        return Rows(mapped)

    def filter(self, function):
        return Rows([row for row in self.rows if function(row)])

    def select_columns(self, names):
        return Rows([{name: row[name] for name in names} for row in self.rows])

    # Packing asks for the rows as one Arrow table, and sets the format back afterwards.
    _formatting = None

    def with_format(self, type=None, **_):
        return Tables(self.rows) if type == "arrow" else Rows(self.rows)


class Tables(Rows):
    """Rows whose batches are Arrow tables."""

    def map(self, function, batched=False, fn_kwargs=None):
        if not batched:
            raise NotImplementedError("TRL asked for a map over single Arrow rows, which this stand-in does not do")
        return Tables(function(pyarrow.Table.from_pylist(self.rows), **(fn_kwargs or {})).to_pylist())

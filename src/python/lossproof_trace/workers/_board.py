"""What the processes of one traced job tell each other: small entries in the key-value store of the cluster's head.

Under `worker` each process that was reached says who and where it is; under `training` that it trains a language model, under
`done` that its steps are made, under `failed` why the tracer could not begin there.
"""

import json

NAMESPACE = b"lossproof_trace"


class Board:
    """Of one `ray.init`, told apart from others by its token."""

    def __init__(self, token):
        self.token = token

    def put(self, what, name, value):
        from ray.experimental import internal_kv

        key = "%s:%s:%s" % (self.token, what, name)
        internal_kv._internal_kv_put(key.encode(), json.dumps(value).encode(), overwrite=True, namespace=NAMESPACE)

    def names(self, what):
        """Of all entries of one kind."""
        return {key[len(self._prefix(what)) :] for key in self._keys(what)}

    def entries(self, what):
        """Name to value."""
        from ray.experimental import internal_kv

        found = {}
        for key in self._keys(what):
            value = internal_kv._internal_kv_get(key.encode(), namespace=NAMESPACE)
            if value is not None:
                found[key[len(self._prefix(what)) :]] = json.loads(value)
        return found

    def clear(self):
        from ray.experimental import internal_kv

        internal_kv._internal_kv_del(("%s:" % self.token).encode(), del_by_prefix=True, namespace=NAMESPACE)

    def _prefix(self, what):
        return "%s:%s:" % (self.token, what)

    def _keys(self, what):
        from ray.experimental import internal_kv

        return [key.decode() for key in internal_kv._internal_kv_list(self._prefix(what).encode(), namespace=NAMESPACE)]

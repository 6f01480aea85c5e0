"""Names of machines that a script could not reach, so that a run that fails for want of a network can say so."""

import functools

HERE = ("localhost", "127.0.0.1", "::1", None, "")


def install(session, module):
    """socket is imported."""
    told = set()

    def watched(original, host_of):
        @functools.wraps(original)
        def reached(*args, **kwargs):
            try:
                return original(*args, **kwargs)
            except OSError:
                with session.guard("network"):
                    tell(host_of(*args, **kwargs))
                raise

        return reached

    def tell(host):
        host = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        if host not in HERE and host not in told and len(told) < 4:
            told.add(host)
            session.write("event", what="unreachable", step=session.step, model=None, place=None, names=[str(host)], values={})

    module.getaddrinfo = watched(module.getaddrinfo, lambda host=None, *args, **kwargs: host)
    module.create_connection = watched(module.create_connection, lambda address, *args, **kwargs: address[0])

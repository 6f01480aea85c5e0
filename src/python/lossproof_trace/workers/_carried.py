"""What Ray runs at the start of every worker of the job: it brings the tracer's own files along, so that a node needs nothing but Ray.

The hook is pickled by value, as Ray does with a function that is made inside of another: it must name nothing of ours but by text.
"""

import io
import os
import zipfile

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def hook_for(facts, own):
    """The job's `worker_process_setup_hook`. `facts`: what the driver says (token, folder, steps, mode, compiled); `own`: the
    script's hook, a function or the dotted name of one, which is called behind ours and may fail as it would without us."""
    archive = _archive()

    def lossproof_trace_hook():
        import importlib
        import io
        import os
        import shutil
        import sys
        import tempfile
        import zipfile

        if os.environ.get("LOSSPROOF_TRACE_COLLECTS"):
            return
        try:
            base = os.path.join(tempfile.gettempdir(), "lossproof-trace-" + facts["token"])
            home = os.path.join(base, "python")
            os.makedirs(base, mode=0o700, exist_ok=True)
            if not os.path.isdir(home):
                # Several workers of a node begin at once: whoever is first has made it, whole.
                fresh = tempfile.mkdtemp(dir=base)
                zipfile.ZipFile(io.BytesIO(archive)).extractall(fresh)
                try:
                    os.rename(fresh, home)
                except OSError:
                    shutil.rmtree(fresh, ignore_errors=True)
            # In front, because another version may be installed here; and then behind all that is the script's.
            sys.path.insert(0, home)
            try:
                worker = importlib.import_module("lossproof_trace.workers._worker")
                worker.prepare(facts, base, home)
                importlib.import_module("lossproof_trace._arm").arm()
                worker.join(facts, base)
            finally:
                sys.path.remove(home)
                sys.path.append(home)
        except Exception as error:  # noqa: BLE001 - the worker runs untraced, and the driver says so
            try:
                from ray.experimental.internal_kv import _internal_kv_put

                said = '"%s"' % ("%s: %s" % (type(error).__name__, error)).replace("\\", "/").replace('"', "'")[:500]
                key = "%s:failed:%d" % (facts["token"], os.getpid())
                _internal_kv_put(key.encode(), said.encode(), overwrite=True, namespace=b"lossproof_trace")
            except Exception:  # noqa: BLE001
                pass
        called = own
        if isinstance(called, str):
            module, name = called.rsplit(".", 1)
            called = getattr(importlib.import_module(module), name)
        if called is not None:
            called()

    return lossproof_trace_hook


def _archive():
    """The package as a zip file, without what Python has compiled."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder, folders, files in os.walk(PACKAGE):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(files):
                if name.endswith(".py"):
                    path = os.path.join(folder, name)
                    archive.write(path, os.path.join("lossproof_trace", os.path.relpath(path, PACKAGE)))
    return packed.getvalue()

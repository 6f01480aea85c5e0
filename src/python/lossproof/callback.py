"""`Monitor`, a callback for transformers and TRL, and `watch`, for training loops of your own: see `lossproof_monitor`."""

from lossproof_monitor import Finding, Watch, watch

__all__ = ["Finding", "Monitor", "Watch", "watch"]


def __getattr__(name):
    if name != "Monitor":
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    from lossproof_monitor import Monitor

    return Monitor

"""`Monitor`, a callback for transformers and TRL, and `watch`, for training loops of your own: see `lossproof_monitor`."""

from lossproof_monitor import Finding, Watch, watch

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from lossproof_monitor import Monitor

__all__ = ["Finding", "Monitor", "Watch", "watch"]

if not TYPE_CHECKING:  # else any name would do

    def __getattr__(name):
        if name != "Monitor":
            raise AttributeError("module %r has no attribute %r" % (__name__, name))
        from lossproof_monitor import Monitor

        return Monitor

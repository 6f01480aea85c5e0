"""Watches a training from inside of it: what it logs goes to `lossproof monitor`, which says what cannot be right.

    from lossproof.callback import Monitor, watch

    Trainer(..., callbacks=[Monitor(policy="stop")])

    with watch(policy="warn", learning_rate=1e-4) as monitor:
        for step, batch in enumerate(batches, 1):
            ...
            monitor.log(step, loss=loss.item(), grad_norm=norm.item())
            if monitor.should_stop:
                break

A package of its own, beside `lossproof`: that one answers the harness, this one speaks to it. Standard library only;
transformers is imported when `Monitor` is asked for. Neither the data nor any random state is touched, and nothing that goes
wrong in here ends a training.
"""

from ._watch import Finding, Watch, watch

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from ._trainer import Monitor

__all__ = ["Finding", "Monitor", "Watch", "watch"]

if not TYPE_CHECKING:  # else any name would do

    def __getattr__(name):
        if name != "Monitor":
            raise AttributeError("module %r has no attribute %r" % (__name__, name))
        from ._trainer import Monitor

        globals()[name] = Monitor
        return Monitor

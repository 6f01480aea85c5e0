"""What was found, to the trackers that the training logs to: an alert for each finding, and the verdict beside the run.

A tracker is asked only by the thread that trains: mlflow's active run is that thread's own. Each must have a run by the time
something is found; where it has none, a sentence says so.
"""

import importlib


class _Wandb:
    def __init__(self, wandb):
        self.levels, self.run = wandb.AlertLevel, wandb.run

    def alert(self, title, text, must):
        self.run.alert(title, text, self.levels.ERROR if must else self.levels.WARN)

    def verdict(self, said):
        self.run.summary.update({"lossproof/" + name: value for name, value in said.items()})


class _Mlflow:
    """It has no alerts: a tag of the run stands for one."""

    def __init__(self, mlflow):
        self.set_tags, self.run = mlflow.set_tags, mlflow.active_run()

    def alert(self, title, text, must):
        self.set_tags({title: text})

    def verdict(self, said):
        self.set_tags({"lossproof." + name: value for name, value in said.items()})


class _Trackio:
    """It has no summary: an alert stands for the verdict."""

    def __init__(self, trackio):
        self.levels, self.tell, self.run = trackio.AlertLevel, trackio.alert, trackio.context_vars.current_run.get()

    def alert(self, title, text, must):
        self.tell(title, text, self.levels.ERROR if must else self.levels.WARN)

    def verdict(self, said):
        self.alert("lossproof: " + said["verdict"], said["sentence"], said["verdict"] != "passed")


TRACKERS = {"wandb": _Wandb, "mlflow": _Mlflow, "trackio": _Trackio}
VERDICTS = {0: "passed", 1: "failed"}


class Sinks:
    """`report_to` as transformers has it: a name, or several."""

    def __init__(self, report_to, warn):
        self._names = [report_to] if isinstance(report_to, str) else list(report_to)
        self._warn = warn
        for name in self._names:
            if name not in TRACKERS:
                raise ValueError("report_to: %r is none of %s" % (name, ", ".join(TRACKERS)))

    def alert(self, finding):
        title = "lossproof %s" % finding.get("id")
        text = "%s\nWhat to do: %s" % (finding.get("sentence"), finding.get("advice"))
        self._tell(lambda tracker: tracker.alert(title, text, finding.get("level") == "must"))

    def verdict(self, said, findings):
        told = {
            "verdict": VERDICTS.get(said.get("exitCode"), "no verdict"),
            "failed": ", ".join(sorted({str(finding.get("id")) for finding in findings})),
            "sentence": str(said.get("sentence")),
        }
        self._tell(lambda tracker: tracker.verdict(told))

    def _tell(self, what):
        for name in self._names:
            try:
                tracker = TRACKERS[name](importlib.import_module(name))
                if tracker.run is None:
                    self._warn("nothing is reported to %s: it has no run in this process; begin one before the training" % name)
                else:
                    what(tracker)
            except Exception as error:  # a training does not end because of who is told
                self._warn("nothing is reported to %s: %s: %s" % (name, type(error).__name__, error))

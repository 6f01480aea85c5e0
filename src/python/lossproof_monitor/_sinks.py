"""What was found, to the trackers that the training logs to: an alert for each finding, and the verdict beside the run.

A tracker is asked only by the thread that trains: mlflow's active run is that thread's own. Each has been imported and has a
run by the time something is found, or a sentence says that it does not.
"""

import importlib


def _wandb(wandb):
    run = wandb.run
    if run is None:
        return None

    def alert(title, text, bad):
        level = wandb.AlertLevel.ERROR if bad else wandb.AlertLevel.WARN
        run.alert(title, text, level)

    def verdict(said):
        run.summary.update({"lossproof/" + name: value for name, value in said.items()})

    return alert, verdict


def _mlflow(mlflow):
    if mlflow.active_run() is None:
        return None

    def alert(title, text, bad):
        mlflow.set_tag(title, text)

    def verdict(said):
        mlflow.set_tags({"lossproof." + name: value for name, value in said.items()})

    return alert, verdict


def _trackio(trackio):
    if trackio.context_vars.current_run.get() is None:
        return None

    def alert(title, text, bad):
        trackio.alert(title, text, trackio.AlertLevel.ERROR if bad else trackio.AlertLevel.WARN)

    def verdict(said):
        alert("lossproof: " + said["verdict"], said["sentence"], said["verdict"] != "passed")

    return alert, verdict


TRACKERS = {"wandb": _wandb, "mlflow": _mlflow, "trackio": _trackio}


class Sinks:
    """`report_to` as transformers has it: a name, or several."""

    def __init__(self, report_to, warn):
        names = [report_to] if isinstance(report_to, str) else list(report_to)
        for name in names:
            if name not in TRACKERS:
                raise ValueError("report_to: %r is none of %s" % (name, ", ".join(TRACKERS)))
        self._names = names
        self._warn = warn

    def alert(self, finding):
        text = "%s\nWhat to do: %s" % (finding.get("sentence"), finding.get("advice"))
        self._each(0, "lossproof " + str(finding.get("id")), text, finding.get("level") == "must")

    def verdict(self, said, findings):
        failed = sorted({str(finding.get("id")) for finding in findings})
        word = "passed" if said.get("exitCode") == 0 else "failed" if said.get("exitCode") == 1 else "no verdict"
        self._each(1, {"verdict": word, "failed": ", ".join(failed), "sentence": str(said.get("sentence"))})

    def _each(self, which, *words):
        for name in self._names:
            try:
                tracker = TRACKERS[name](importlib.import_module(name))
                if tracker is None:
                    self._warn("nothing is reported to %s: it has no run here" % name)
                else:
                    tracker[which](*words)
            except Exception as error:  # a training does not end because of who is told
                self._warn("nothing is reported to %s: %s: %s" % (name, type(error).__name__, error))

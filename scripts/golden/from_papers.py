"""Writes golden/papers: worked examples of papers, computed at 50 digits with Python's decimal and fractions.

    python3 scripts/golden/from_papers.py [--out FOLDER]

Standard library only. Answers stand in the files to 40 digits, as strings; no Python, processor or platform changes one.
"""

from sources.papers import advantages, kl, loss, preference, scoring
from sources.entries import folder_of, write

VERSIONS = {"arithmetic": "Python decimal, 50 digits; fractions where exact"}


def main():
    folder = folder_of("papers")
    files = {
        "kl": ("Estimators of the KL divergence.", kl.entries()),
        "policy-loss": ("Clipped policy losses and their gradients by each log-probability.", loss.entries()),
        "preference": ("Losses on pairs of completions.", preference.entries()),
    }
    abouts = {
        "advantages": "Advantages of groups of rewards.",
        "gae": "Generalised advantage estimation.",
        "whitening": "Whitening under a mask.",
        "rewards": "Penalties that become part of a reward.",
        "scoring": "Log-probabilities, entropy and the supervised loss of logits.",
        "sampling": "Distributions that a next token is drawn from.",
    }
    for part in (advantages.entries(), scoring.entries()):
        files.update({name: (abouts[name], entries) for name, entries in part.items()})
    for name, (about, entries) in sorted(files.items()):
        write(folder, name, about, "scripts/golden/from_papers.py", VERSIONS, entries)


if __name__ == "__main__":
    main()

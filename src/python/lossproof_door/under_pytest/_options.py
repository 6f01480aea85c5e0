"""What the plugin adds to the command line, and to the configuration file of pytest."""


def add_options(parser):
    group = parser.getgroup("lossproof", "lossproof: properties of language-model trainers")
    group.addoption(
        "--lossproof",
        action="append",
        nargs="?",
        const="",
        metavar="ADAPTER",
        help="test this adapter, a file or a command in quotes; repeatable; without a value the trainer of lossproof.config.*",
    )
    group.addoption("--lossproof-only", metavar="IDS", action="append", help="properties by id, stage or glob, with commas; repeatable")
    group.addoption("--lossproof-level", choices=["must", "should", "may"], help="the highest level (default: must)")
    group.addoption("--lossproof-cases", type=int, metavar="N", help="cases per property (default: 100)")
    group.addoption("--lossproof-seed", metavar="SEED", help="default: LOSSPROOF_SEED, else a new one")
    group.addoption("--lossproof-known", metavar="FILE", help='failures that are lived with: {"id": {"reason": "..."}}')
    group.addoption("--lossproof-strict", action="store_true", default=None, help="also fail on legal but suspicious choices")
    group.addoption("--lossproof-op-timeout", type=float, metavar="SECONDS", help="longest wait for one answer (default: 10, or three times the start-up time)")
    group.addoption("--lossproof-hello-timeout", type=float, metavar="SECONDS", help="longest wait for the first answer, imports included (default: 120)")
    group.addoption("--lossproof-trainer", metavar="NAME", help="which of the configuration's trainers")
    parser.addini("lossproof", "adapters to test where no files are named on the command line, one a line", type="linelist", default=[])

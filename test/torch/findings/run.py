"""python run.py PAGE...: runs the reproduction of each page of docs/trainers/findings, in a namespace and a folder of its own, and
prints what they printed, as JSON by page. Imports are paid for once. What this Python lacks of the libraries' own requirements, the
adapters' stubs stand in for."""

import contextlib
import io
import json
import logging
import os
import re
import sys
import tempfile
import traceback
import warnings

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # before torch: to compile an entropy of a few numbers takes a C++ compiler and a minute
os.environ["HF_HUB_OFFLINE"] = "1"

HOME = os.getcwd()
STUBS = {"verl": "lossproof.adapters.verl._parts", "openrlhf": "lossproof.adapters.openrlhf._parts", "llamafactory": "lossproof.adapters.llama_factory._parts"}


def reproduction(page):
    with open(page, encoding="utf-8") as file:
        return re.search(r"^## Reproduction\n\n```python\n(.*?)^```$", file.read(), re.S | re.M).group(1)


def printed(page):
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out):
        os.chdir(folder)
        try:
            exec(compile(reproduction(page), page, "exec"), {"__name__": "__main__"})
        except Exception:
            out.write(traceback.format_exc())
        finally:
            os.chdir(HOME)
    return out.getvalue()


pages = [os.path.abspath(page) for page in sys.argv[1:]]
for library in sorted({os.path.basename(os.path.dirname(page)) for page in pages} & set(STUBS)):
    __import__(STUBS[library])
logging.disable(logging.WARNING)
warnings.simplefilter("ignore")
sys.stdout.write(json.dumps({page: printed(page) for page in pages}))

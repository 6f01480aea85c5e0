"""For pre-commit alone, which installs the root of this repository: brings the release that package.json names.

lossproof itself is built from src/python, by `npm run wheel`."""

import json
import os

from setuptools import setup

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "package.json"), encoding="utf-8") as file:
    version = json.load(file)["version"]

setup(name="lossproof-pre-commit", version=version, packages=[], py_modules=[], install_requires=["lossproof==" + version])

"""Every import between the Python files below a folder, as one line of JSON: {"modules": {name: file}, "imports": [...]}.

    python3 imports.py FOLDER

Imports inside of functions and those for type checkers count as any other: a circle that is put off is one. That a file of a
package runs the package's __init__.py first is no import of it: only what takes a name from there is. Standard library only;
nothing that is looked at is run.
"""

import ast
import json
import sys
from pathlib import Path


def modules_below(folder):
    """Dotted name to path, of every Python file; a folder without __init__.py counts as one with an empty one."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(node, name, is_package):
    """(module, name in it or None) of what one statement of module `name` imports."""
    if isinstance(node, ast.Import):
        return [(alias.name, None) for alias in node.names]
    base = node.module or ""
    if node.level > 0:
        # One dot is the package that the file lies in, which a package's own __init__ is itself.
        above = name.split(".")[: len(name.split(".")) - node.level + int(is_package)]
        base = ".".join(above + ([node.module] if node.module else []))
    return [(base, alias.name) for alias in node.names]


def imports_of(name, path, modules):
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for base, item in imported(node, name, path.name == "__init__.py"):
                inner = "%s.%s" % (base, item)
                yield {"from": name, "line": node.lineno, "to": inner if item is not None and inner in modules else base}


if __name__ == "__main__":
    modules = modules_below(Path(sys.argv[1]))
    found = [each for name, path in modules.items() for each in imports_of(name, path, modules)]
    print(json.dumps({"modules": {name: str(path) for name, path in modules.items()}, "imports": found}))

"""Executes a notebook in a kernel of its own, as Jupyter's programs do: `run_notebook.py CELLS NOTEBOOK`.

CELLS is a JSON list of {"source"}. With "interrupt" the kernel is interrupted once the file of that name is there, as by the notebook's
stop button; with "restart" it is killed there, as where it is restarted, and the notebook ends. NOTEBOOK is written as an .ipynb. Printed
is, for each of these, which processes the kernel had started by then, and which of them have outlived it."""

import asyncio
import json
import os
import sys

import nbformat
from nbclient import NotebookClient

POLL_SECONDS = 0.05
# Who is told to end needs a moment.
POLLS_OF_LEFT = 600


async def main(asked, written):
    with open(asked, encoding="utf-8") as file:
        cells = json.load(file)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell["source"]) for cell in cells])
    client = NotebookClient(book, timeout=None, allow_errors=True, resources={"metadata": {"path": os.getcwd()}})
    told = []
    async with client.async_setup_kernel():
        kernel = client.km.provisioner.pid
        for at, cell in enumerate(cells):
            running = asyncio.ensure_future(client.async_execute_cell(book.cells[at], at))
            when = cell.get("interrupt") or cell.get("restart")
            if when is None:
                await running
                continue
            while not os.path.exists(when) and not running.done():
                await asyncio.sleep(POLL_SECONDS)
            started = below(kernel)
            if "restart" in cell:
                await client.km.shutdown_kernel(now=True)
                await asyncio.gather(running, return_exceptions=True)
            else:
                await client.km.interrupt_kernel()
                await running
            told.append({"started": sorted(started.values()), "left": await left_of(started)})
            if "restart" in cell:
                break
    nbformat.validate(book)
    nbformat.write(book, written)
    print(json.dumps(told))


async def left_of(started):
    for _ in range(POLLS_OF_LEFT):
        now = processes()
        left = sorted(started[each] for each in started if each in now)
        if not left:
            break
        await asyncio.sleep(POLL_SECONDS)
    return left


def below(root):
    """All processes that descend from one: (pid, when it was started) to its command line."""
    now = processes()
    pids = {root}
    while True:
        more = {pid for (pid, _), (parent, _) in now.items() if parent in pids} - pids
        if not more:
            return {each: words for each, (_, words) in now.items() if each[0] in pids - {root}}
        pids |= more


def processes():
    """(pid, when it was started) to (its parent's pid, its command line), of all that are no zombies."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name) as file:
                state, parent, *fields = file.read().rpartition(")")[2].split()
            with open("/proc/%s/cmdline" % name, "rb") as file:
                words = file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except OSError:
            continue  # it has ended
        if state != "Z":
            found[int(name), fields[17]] = int(parent), words
    return found


asyncio.run(main(*sys.argv[1:]))

"""What `lossproof discover` starts: reads a project's Python, finds functions that may answer an op, and calls them.

Each file may import those before it:

    _words         names as words, and how well two of them go together
    _read          a file as functions, without importing it
    _callers       whether those that call a function hand over what is shifted
    _settings      constants for what is configuration and no data
    _sources       what an op is sent, as the expressions that a person would write
    _asks          all ops, those of samplers and cuts among them
    _results       where the answer stands in what a function returns
    _landlock      what the system lets nobody here write
    _guard         what the project's code may not do in this process
    _printed       whether it prints
    _configs       the project's own configuration, with its defaults
    _load          a module imported, what is not installed stubbed
    _made          what a function is called on: its module, or an object that is made for it
    _plans         a function, an op, and one way to call the one for the other
    _lines         the lines of an adapter that a plan is
    _try           the ways that answer at all
    _serve         the dialogue with the engine, which judges them

A plan is the text of an op function: what is judged is what is written into the adapter. Nothing here knows a formula."""

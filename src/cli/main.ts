#!/usr/bin/env node
// The executable. It knows its Node before it imports anything: an older one cannot even parse the rest, and would end
// with a SyntaxError and exit code 1, which says that a property fails. So nothing is imported at the top, here and in
// node-version.ts, and nothing is written that Node 12 cannot read.

/** NO_VERDICT of exit.ts, which is not imported yet. It stands until the program says otherwise, whatever happens. */
process.exitCode = 2;

import('./node-version.ts')
  .then(({ nodeComplaint }): unknown => {
    const complaint = nodeComplaint(process.versions.node, process.env.LOSSPROOF_COMMAND !== undefined);
    if (complaint === undefined) {
      const [, , word, ...rest] = process.argv;
      // Scripts ask for the version: they do not wait for the program to load.
      if ((word === '--version' || word === '-V') && rest.length === 0)
        return import('../version.ts').then(({ VERSION }) => {
          process.exitCode = 0;
          process.stdout.on('error', (error: NodeJS.ErrnoException) => {
            if (error.code !== 'EPIPE') process.exitCode = 2;
          });
          // pip may have brought this Node: whoever reports a problem names both.
          const node = process.env.LOSSPROOF_COMMAND === undefined ? '' : `Node ${process.versions.node}\n`;
          process.stdout.write(`${VERSION}\n${node}`);
        });
      // Before the rest: where too few files may be open, nothing can be loaded any more to say so.
      return import('./open-files.ts').then(({ filesComplaint }) =>
        import('./executable.ts').catch((error: unknown) => {
          const why = filesComplaint(error);
          if (why === undefined) throw error;
          process.stderr.write(`lossproof: ${why}\n`);
        }),
      );
    }
    process.stderr.write(`lossproof: ${complaint}\n`);
    return undefined;
  })
  .catch((error: unknown) => {
    const what = error instanceof Error && error.stack !== undefined ? error.stack : String(error);
    process.stderr.write(
      `lossproof cannot start; if installing it again does not help, please report it:\n${what}\n`,
    );
  });

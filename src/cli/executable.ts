// What the executable does once main.ts has found its Node new enough: hands the real world to the program and sets the
// exit code.
import './heap.ts';
import type { Context } from './context.ts';
import { HOLDS, NO_VERDICT } from './exit.ts';
import { runProgram } from './program.ts';

/** What a pipe or a CI log is given. */
const COLUMNS_WITHOUT_TERMINAL = 100;

const context: Context = {
  cwd: process.cwd(),
  env: process.env,
  out: screen(process.stdout),
  err: screen(process.stderr),
  properties: async () => (await import('../../properties/index.ts')).properties,
  onInterrupt(callback) {
    process.on('SIGINT', callback);
    return () => process.off('SIGINT', callback);
  },
  onTerminate(callback) {
    process.on('SIGTERM', callback);
    return () => process.off('SIGTERM', callback);
  },
  input: () => process.stdin,
  outliveReader: () => {
    readerMatters = false;
  },
  exitNow: (code) => process.exit(code),
};

let readerMatters = true;

/** Undefined while the program is at work. */
let code: number | undefined;

// `lossproof list | head` closes the pipe; that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (!readerMatters) return;
  if (error.code === 'EPIPE') process.exit(code ?? HOLDS);
  throw error;
});
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (readerMatters && error.code !== 'EPIPE') throw error;
});

try {
  code = await runProgram(process.argv.slice(2), context);
} catch (error) {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`lossproof: this is a defect of lossproof, please report it:\n${what}\n`);
  code = NO_VERDICT;
}
process.exitCode = code;

function screen(stream: NodeJS.WriteStream): Context['out'] {
  return {
    write: (text) => void stream.write(text),
    isTty: stream.isTTY === true,
    get columns() {
      return stream.columns ?? COLUMNS_WITHOUT_TERMINAL;
    },
    get rows() {
      return stream.rows;
    },
  };
}

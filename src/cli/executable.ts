// What the executable does once main.ts has found its Node new enough: hands the real world to the program and sets the
// exit code.
import './heap.ts';
import { tellStrays } from '../trainer/processes/strays.ts';
import { askAtTerminal } from './ask.ts';
import type { Context } from './context.ts';
import { crashes } from './crash.ts';
import { HOLDS } from './exit.ts';
import { runProgram } from './program.ts';
import { TIED, whenStarterEnds } from './tied.ts';
import { asTyped } from './typed.ts';

/** What a pipe or a CI log is given. */
const COLUMNS_WITHOUT_TERMINAL = 100;

let isLeaving = false;
const leave = (code: number): never => {
  isLeaving = true;
  process.exit(code);
};

// Node would end with exit code 1, which says that a property fails. A rejection that nobody handled comes here, too.
const { atCrash, crash } = crashes({
  say: (line) => void process.stderr.write(`${line}\n`),
  exit: leave,
});
process.on('uncaughtException', (error) => void crash(error));
process.on('exit', () => {
  const strays = tellStrays();
  if (strays !== undefined) process.stderr.write(`lossproof: ${strays}\n`);
  if (code === undefined && !isLeaving)
    process.stderr.write(
      'lossproof: it ended in the middle, waiting for something that never came; no verdict\n',
    );
});

const isTied = process.env[TIED] === '1';
delete process.env[TIED];
const starter = process.ppid;
// SIGTERM is heard as from anybody else: what was started is ended in order.
const end = (): void => void process.kill(process.pid, 'SIGTERM');
if (isTied) whenStarterEnds(end);

const context: Context = {
  ...(isTied ? { endWithStarter: () => (process.ppid === starter ? undefined : end()) } : {}),
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
  ...(process.stdin.isTTY === true && process.stdout.isTTY === true ? { ask: askAtTerminal(leave) } : {}),
  outliveReader: () => {
    readerMatters = false;
  },
  exitNow: leave,
  atCrash,
  begun: 0, // with the process
};

let readerMatters = true;

/** Undefined while the program is at work. */
let code: number | undefined;

// `lossproof list | head` closes the pipe; that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (!readerMatters) return;
  if (error.code === 'EPIPE') leave(code ?? HOLDS);
  throw error;
});
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (readerMatters && error.code !== 'EPIPE') throw error;
});

try {
  code = await runProgram(process.argv.slice(2), context);
  process.exitCode = code;
} catch (error) {
  await crash(error);
}

function screen(stream: NodeJS.WriteStream): Context['out'] {
  return {
    write: (text) => void stream.write(asTyped(text)),
    isTty: stream.isTTY === true,
    get columns() {
      return stream.columns ?? COLUMNS_WITHOUT_TERMINAL;
    },
    get rows() {
      return stream.rows;
    },
  };
}

// What the executable does once main.ts has found its Node new enough: hands the real world to the program and sets the
// exit code.
import './heap.ts';
import { tellStrays } from '../trainer/processes/strays.ts';
import { askAtTerminal } from './ask.ts';
import type { Context, Ending } from './context.ts';
import { crashes } from './crash.ts';
import { runProgram } from './program.ts';
import { TIED, whenStarterEnds } from './tied.ts';
import { codeDelivered, openWayOut } from './way-out.ts';

const out = openWayOut(process.stdout);
const err = openWayOut(process.stderr);
/** Undefined while the program is at work. */
let code: number | undefined;

let isLeaving = false;
/** Reports go to standard output, that of `trace` to standard error: the script has the other one. */
const delivered = (code: number): number => codeDelivered(codeDelivered(code, out.lost()), err.lost());
const leave = (code: number): never => {
  isLeaving = true;
  process.exit(delivered(code));
};

// Node would end with exit code 1, which says that a property fails. A rejection that nobody handled comes here, too.
const { atCrash, crash } = crashes({
  say: (line) => err.screen.write(`${line}\n`),
  exit: leave,
});
process.on('uncaughtException', (error) => void crash(error));
process.on('exit', () => {
  const strays = tellStrays();
  if (strays !== undefined) err.screen.write(`lossproof: ${strays}\n`);
  const lost = out.lost();
  if (lost !== undefined && !lost.isReaderGone)
    err.screen.write(`lossproof: standard output is incomplete, it cannot be written: ${lost.why}\n`);
  if (code === undefined && !isLeaving)
    err.screen.write(
      'lossproof: it ended in the middle, waiting for something that never came; no verdict\n',
    );
  // What was printed last may have failed after the command had ended.
  if (code !== undefined && !isLeaving) process.exitCode = delivered(code);
});

const ENDINGS: readonly Ending[] = ['SIGTERM', 'SIGHUP'];

const isTied = process.env[TIED] === '1';
delete process.env[TIED];
// Set for a trainer by the lossproof that started us (`mcp`): a script that we trace must not find it.
delete process.env.LOSSPROOF_PIPE;
const starter = process.ppid;
// SIGTERM is heard as from anybody else: what was started is ended in order.
const end = (): void => void process.kill(process.pid, 'SIGTERM');
if (isTied) whenStarterEnds(end);

const context: Context = {
  ...(isTied ? { endWithStarter: () => (process.ppid === starter ? undefined : end()) } : {}),
  cwd: process.cwd(),
  self: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
  env: process.env,
  out: out.screen,
  err: err.screen,
  properties: async () => (await import('../../properties/index.ts')).properties,
  onInterrupt(callback) {
    process.on('SIGINT', callback);
    return () => process.off('SIGINT', callback);
  },
  onTerminate(callback) {
    for (const signal of ENDINGS) process.on(signal, callback);
    return () => {
      for (const signal of ENDINGS) process.off(signal, callback);
    };
  },
  input: () => process.stdin,
  ...(process.stdin.isTTY === true && process.stdout.isTTY === true ? { ask: askAtTerminal(leave) } : {}),
  onOutputLost: out.onLost,
  exitNow: leave,
  atCrash,
  begun: 0, // with the process
};

try {
  code = await runProgram(process.argv.slice(2), context);
  process.exitCode = code;
} catch (error) {
  await crash(error);
}

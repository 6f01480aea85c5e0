// Ctrl-C, SIGTERM as a launcher sends it at the end of a job's time, and SIGHUP of a terminal that is closed: the first lets the case in hand finish and the
// report be printed with what was found so far, the second, of either kind, ends everything at once.
// Leaving is enough to end a trainer too: trainer/processes/orphans.ts kills its group when the harness exits.
import { bound } from '../bounds.ts';
import { ERASE_LINE } from '../report/terminal.ts';
import type { Context } from './context.ts';
import { INTERRUPTED } from './exit.ts';

export interface Interrupts {
  readonly signal: AbortSignal;
  /** The case in hand has had its time: what is still waited for is given up. Called back once, after the first signal. */
  onPatienceOver(giveUp: () => void): void;
  /** From now on there is something to finish. Before, the first signal leaves at once. */
  begin(): void;
  dispose(): void;
}

/** Most cases take milliseconds. Nobody waits out the deadline of one that hangs: what it would say is not judged any more. */
const PATIENCE_MILLISECONDS = bound({
  of: 'after Ctrl-C, waiting for the case in hand',
  wall: 500,
  over: 'it is not judged: `interrupted`',
});

export function watchInterrupts(context: Context): Interrupts {
  const controller = new AbortController();
  const giveUps: (() => void)[] = [];
  let patience: NodeJS.Timeout | undefined;
  let begun = false;
  const heard = (what: string, again: string) => (): void => {
    // A terminal echoes ^C behind the live line; elsewhere a line may be unfinished.
    const fresh = context.err.isTty && context.env.TERM !== 'dumb' ? ERASE_LINE : '\n';
    if (begun && !controller.signal.aborted) {
      context.err.write(`${fresh}${what}: finishing the case in hand; ${again} again stops at once\n`);
      controller.abort();
      patience = setTimeout(() => {
        for (const giveUp of giveUps) giveUp();
      }, PATIENCE_MILLISECONDS);
      return;
    }
    context.err.write(`${fresh}${begun ? 'stopped' : `${what} before the trainer said hello`}\n`);
    context.exitNow(INTERRUPTED);
  };
  const disposals = [
    context.onInterrupt(heard('interrupted', 'Ctrl-C')),
    context.onTerminate?.((signal) => heard(`interrupted by ${signal}`, 'a signal')()),
  ];
  return {
    signal: controller.signal,
    onPatienceOver: (giveUp) => void giveUps.push(giveUp),
    begin: () => {
      begun = true;
    },
    dispose() {
      clearTimeout(patience);
      for (const dispose of disposals) dispose?.();
    },
  };
}

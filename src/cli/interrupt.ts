// Ctrl-C: the first lets the case in hand finish and the report be printed, the second ends everything at once.
// Leaving is enough to end a trainer too: trainer/orphans.ts kills its group when the harness exits.
import { ERASE_LINE } from '../report/terminal.ts';
import type { Context } from './context.ts';
import { INTERRUPTED } from './exit.ts';

export interface Interrupts {
  readonly signal: AbortSignal;
  /** From now on there is something to finish. Before, the first Ctrl-C leaves at once. */
  begin(): void;
  dispose(): void;
}

export function watchInterrupts(context: Context): Interrupts {
  const controller = new AbortController();
  let begun = false;
  const dispose = context.onInterrupt(() => {
    // A terminal echoes ^C behind the live line; elsewhere a line may be unfinished.
    const fresh = context.err.isTty && context.env.TERM !== 'dumb' ? ERASE_LINE : '\n';
    if (begun && !controller.signal.aborted) {
      context.err.write(`${fresh}interrupted: finishing the case in hand; Ctrl-C again stops at once\n`);
      controller.abort();
      return;
    }
    context.err.write(`${fresh}${begun ? 'stopped' : 'interrupted before the trainer said hello'}\n`);
    context.exitNow(INTERRUPTED);
  });
  return {
    signal: controller.signal,
    begin: () => {
      begun = true;
    },
    dispose,
  };
}

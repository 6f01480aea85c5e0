// What check, replay, list, doctor and demo do around their own work: start, watch for Ctrl-C, stop; and how
// they print.
import type { Replay } from '../../check/events.ts';
import { quoted, REPLAY } from '../../report/failure/reproduce.ts';
import { troubleLines } from '../../report/failure/trouble.ts';
import { BUNDLED } from '../../report/runs.ts';
import { choosePaint } from '../../report/text/paint.ts';
import type { Plan } from '../check/plan.ts';
import { type Context, isProblem, refuse, say } from '../context.ts';
import { NO_VERDICT } from '../exit.ts';
import { type Interrupts, watchInterrupts } from '../interrupt.ts';
import { widthOfScreen } from '../screen.ts';
import { casesFolder } from './cases-folder.ts';
import { nameOf, type Opened, openPlan } from './open.ts';
import { commandOf, pipeLine } from './trainer.ts';

export interface Session extends Opened {
  readonly interrupts: Interrupts;
}

/**
 * Starts the trainer, loads the tokenizer, runs `work`, and stops the trainer whatever happens.
 * @returns the exit code of `work`, or 2 where the trainer never started or the tokenizer cannot be read.
 */
export async function withSession(
  plan: Plan,
  context: Context,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const interrupts = watchInterrupts(context);
  try {
    const opened = await openPlan(plan);
    if (isProblem(opened)) return refuse(context, opened);
    if ('failure' in opened) {
      const print = { width: widthOfScreen(context), paint: choosePaint(context.err.isTty, context.env) };
      const lines = [`lossproof: ${nameOf(plan)} did not start`, ...troubleLines(opened.failure, print)];
      context.err.write(`${lines.join('\n')}\n`);
      return NO_VERDICT;
    }
    interrupts.begin();
    interrupts.onPatienceOver(() => void opened.trainer.stop());
    try {
      return await work({ ...opened, interrupts });
    } finally {
      await opened.trainer.stop();
    }
  } finally {
    interrupts.dispose();
  }
}

/** How a failure of this trainer is seen again from this folder. */
export function replayOf(
  { choice, name }: Pick<Plan, 'choice' | 'name'>,
  context: Pick<Context, 'cwd' | 'env'>,
  kept: boolean,
): Replay {
  const adapter = pipeLine(choice, context);
  return {
    command: name === undefined ? REPLAY.command : `${REPLAY.command} --trainer ${quoted(name)}`,
    ...(adapter === undefined ? {} : { adapter }),
    ...(kept ? { folder: casesFolder(name) } : {}),
  };
}

/** Said before any work on the bundled example. */
export function sayBundled({ choice }: Plan, context: Context): void {
  if (choice.from !== 'bundled') return;
  say(context, `${BUNDLED}: ${commandOf(choice)}`);
}

// The one place where an error ends that nobody caught, thrown by a command, by a timer or by a stream: the reports of what
// was found so far are written, one line says what to send us, and the exit code is "no verdict". Leaving kills the
// trainers (trainer/processes/orphans.ts).
import { bound } from '../bounds.ts';
import { Overrun } from '../tokenizers/deadline.ts';
import { PACKAGE_ROOT, VERSION } from '../version.ts';
import { harmless } from '../visible.ts';
import { NO_VERDICT } from './exit.ts';
import { filesComplaint } from './open-files.ts';

/** What is still to be done when a command ends in the middle. */
export type Will = () => Promise<void>;

export interface Crashes {
  /** Until the returned function is called. */
  atCrash(will: Will): () => void;
  /** Ends the process. */
  crash(error: unknown): Promise<void>;
}

export interface CrashOptions {
  readonly say: (line: string) => void;
  readonly exit: (code: number) => void;
}

export function crashes({ say, exit }: CrashOptions): Crashes {
  const wills = new Set<Will>();
  let crashed = false;
  return {
    atCrash(will) {
      wills.add(will);
      return () => void wills.delete(will);
    },
    async crash(error) {
      // What goes wrong while it is being ended is of no interest to anybody.
      if (crashed) return;
      crashed = true;
      say(`lossproof: ${crashLine(error)}`);
      const done = Promise.allSettled([...wills].map((will) => will()));
      await Promise.race([done, new Promise((resolve) => void setTimeout(resolve, WILL_MILLISECONDS))]);
      exit(NO_VERDICT);
    },
  };
}

/** What to send us; or what is too much for a deadline, or for the limit on open files. */
export function crashLine(error: unknown): string {
  if (error instanceof Overrun) return harmless(error.message).replaceAll('\n', ' ');
  const tooFew = filesComplaint(error);
  if (tooFew !== undefined) return tooFew;
  const { message, stack } = factsOf(error);
  const frames = (stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, FRAMES)
    .map((line) => line.trim().replaceAll(PACKAGE_ROOT, '').replaceAll('file://', ''));
  const facts = [
    `lossproof ${VERSION}`,
    `node ${process.versions.node}`,
    `${process.platform} ${process.arch}`,
    message.slice(0, MESSAGE_CHARACTERS),
    ...frames,
  ];
  return `this is a defect of lossproof, please report it with this line: ${harmless(facts.join(' · ')).replaceAll('\n', ' ')}`;
}

/** Writing a page of a long run takes a second; nobody waits for a disk that hangs. */
const WILL_MILLISECONDS = bound({
  of: 'after an error of our own, writing the reports',
  wall: 60_000,
  over: 'exit code 2 without them',
});
const FRAMES = 4;
const MESSAGE_CHARACTERS = 300;

function factsOf(error: unknown): { readonly message: string; readonly stack?: string | undefined } {
  if (!(error instanceof Error)) return { message: String(error) };
  return { message: `${error.name}: ${error.message}`, stack: error.stack };
}

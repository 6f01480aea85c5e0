// How far a run of `mutate` is: a line that is drawn again on a terminal, some lines elsewhere.

import { pace } from '../../bounds.ts';
import type { MutateProgress } from '../../mutate/run.ts';
import { type Context, say } from '../context.ts';
import { liveBlock } from '../live-block.ts';

export interface Progress {
  show(progress: MutateProgress): void;
  end(): void;
}

/** A log has a line of it so often. */
const LOG_MILLISECONDS = pace(10_000);
const DRAW_MILLISECONDS = pace(100);

export function progressOf(context: Context, quiet: boolean): Progress {
  if (quiet) return { show: () => {}, end: () => {} };
  const live = context.out.isTty && !context.env.CI && context.env.TERM !== 'dumb';
  return live ? drawn(context) : logged(context);
}

function drawn(context: Context): Progress {
  const block = liveBlock(context.out);
  let last = 0;
  return {
    show(progress) {
      const now = performance.now();
      if (now - last < DRAW_MILLISECONDS && progress.done < progress.total) return;
      last = now;
      block.draw([sentenceOf(progress)]);
    },
    end: () => block.clear(),
  };
}

function logged(context: Context): Progress {
  let last = performance.now();
  return {
    show(progress) {
      const now = performance.now();
      if (now - last < LOG_MILLISECONDS) return;
      last = now;
      say(context, sentenceOf(progress));
    },
    end: () => {},
  };
}

function sentenceOf({ type, done, total }: MutateProgress): string {
  const of = `${done.toLocaleString('en')} of ${total.toLocaleString('en')}`;
  return type === 'baseline' ? `the trainer as it is: ${of} properties` : `${of} changes`;
}

// `session`: the engine for a test runner in another language. One line of JSON a request, answers and what goes on
// meanwhile as lines; PROTOCOL.md. It lives as long as whoever started it: the end of its input ends every trainer.
import type { Command } from 'commander';
import { pace } from '../../bounds.ts';
import { lineSplitter } from '../../protocol/lines.ts';
import { type Context, refuse, sayDocument, whyOf } from '../context.ts';
import { HOLDS, NO_VERDICT } from '../exit.ts';
import type { Invocation } from '../options.ts';
import { whenStarterEnds } from '../tied.ts';
import { openAnswers } from './answers.ts';
import { readRequest } from './request.ts';

export function addSession(program: Command, { context, finish }: Invocation): void {
  program
    .command('session', { hidden: true })
    .description('answer a test runner in another language, JSON lines in and out (PROTOCOL.md)')
    .action(async () => finish(await session(context)));
}

async function session(context: Context): Promise<number> {
  const input = context.input?.();
  if (input === undefined)
    return refuse(context, { problem: 'session reads requests from its standard input' });
  const answers = openAnswers(context);
  const splitter = lineSplitter();
  const write = (value: object): void => sayDocument(context, JSON.stringify(value));
  // One at a time: a trainer answers one question after the other, too.
  let busy = Promise.resolve();
  let working = 0;

  async function take(line: string): Promise<void> {
    const read = readRequest(line);
    const { id } = read;
    if ('problem' in read) {
      write({ id, problem: read.problem });
      return;
    }
    try {
      let told = 0;
      const answer = await answers.answer(read.request, (event) => {
        if (!TOLD.has(event.type)) return;
        // For someone who looks on; a line a case would cost more than the case.
        const now = performance.now();
        if (event.type === 'progress' && now - told < TELL_MILLISECONDS) return;
        told = now;
        write({ id, event });
      });
      write({ id, ...answer });
    } catch (error) {
      write({ id, problem: `this is a defect of lossproof, please report it: ${whyOf(error)}` });
    }
  }

  let code = HOLDS;
  // Whoever asks is told of Ctrl-C, too, and decides what becomes of us.
  const disposeInterrupt = context.onInterrupt(() => {});
  await new Promise<void>((resolve) => {
    // A process that was forked may hold our input open when the one that started us is gone.
    const untie = whenStarterEnds(() => over());
    const over = (): void => {
      untie();
      disposeLost?.();
      // It may be open still, and would keep this process.
      input.destroy();
      resolve();
    };
    // Nobody can hear an answer.
    const disposeLost = context.onOutputLost?.(() => {
      code = NO_VERDICT;
      over();
    });
    input.on('readable', () => {
      for (let chunk = input.read(); chunk !== null; chunk = input.read()) {
        for (const line of splitter.push(chunk as Buffer)) {
          if (typeof line !== 'string') {
            write({ id: null, problem: `a request is ${line.fault}` });
            continue;
          }
          if (line.trim() === '') continue;
          working += 1;
          busy = busy.then(async () => {
            await take(line);
            working -= 1;
          });
        }
      }
    });
    input.on('error', over);
    input.on('end', over);
    input.on('close', over);
  });
  disposeInterrupt();
  // Nobody waits for the verdict in hand: leaving kills its trainer (trainer/orphans.ts).
  if (working > 0) context.exitNow(code);
  else await answers.stopAll();
  return code;
}

const TELL_MILLISECONDS = pace(200);
const TOLD: ReadonlySet<string> = new Set(['property-start', 'progress', 'shrinking']);

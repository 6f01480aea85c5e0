// `twin`: runs a training script several times, changes one thing each time that must not matter, and says where the runs part.
import { join } from 'node:path';
import type { Command } from 'commander';
import { choosePaint } from '../../report/text/paint.ts';
import { plural } from '../../report/text/plural.ts';
import { harmless, wrap } from '../../report/text/visible.ts';
import { twinJson } from '../../report/twin/json.ts';
import {
  errorLines,
  resultLines,
  type TextOf,
  verdictLine,
  writtenSentences,
} from '../../report/twin/twin.ts';
import { tokenText } from '../../tokenizers/text.ts';
import { CHANGES } from '../../twin/changes.ts';
import { type TwinResult, verdictOf } from '../../twin/twin.ts';
import { VERSION } from '../../version.ts';
import { splitNames } from '../check/select.ts';
import { type Context, isProblem, type Problem, refuse, say, sayDocument } from '../context.ts';
import { FAILED, HOLDS, INTERRUPTED, NO_VERDICT } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import { collect, type Invocation, wholePositive } from '../options.ts';
import { pageProblem, writePage } from '../outputs/page.ts';
import { widthOfScreen } from '../screen.ts';
import { makeTraceFolder } from '../trace/folder.ts';
import { joinCommand } from '../trainer/words.ts';
import { type Asked, twins } from './compare.ts';
import { watchFiles } from './files.ts';

interface Options {
  readonly change?: readonly string[];
  readonly steps: number;
  readonly with?: string;
  readonly saveArgs?: string;
  readonly resumeArgs?: string;
  readonly out?: string;
  readonly html?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Enough to see that a step follows a step. */
const STEPS = 2;
/** Between the two commands of a pair. */
const SEPARATOR = '---';

export function addTwin(program: Command, { context, rest, finish }: Invocation): void {
  tell(program.command('twin'), WORDS)
    .summary('run a script twice, change one thing, find where they part')
    .description('run a script again with one change that must not matter, and find differences')
    .usage('[options] -- command... [--- second command...]')
    .option('--change <names>', 'names separated by commas (default: all but precision)', collect)
    .option('--steps <n>', 'optimiser steps that are compared', wholePositive, STEPS)
    .option('--with <args>', 'compare with a run with these arguments')
    .option('--save-args <args>', 'arguments that save a checkpoint and end')
    .option('--resume-args <args>', 'arguments that resume from it')
    .option('--out <dir>', 'folder for records (default: .lossproof/twin/TIME)')
    .option('--html <file>', 'write a page with the differences by module and step')
    .option('--json', 'print the results as JSON')
    .option('--quiet', 'print differences and the final line only')
    .action(async (options: Options) => finish(await twin(options, rest, context)));
}

const WORDS: Words = {
  listing: {
    heading: 'Changes:',
    lines: CHANGES.map(({ name, sentence }) => `${name.padEnd(15)}${sentence}`),
  },
  examples: [
    { command: 'npx lossproof twin -- python train.py' },
    { command: 'npx lossproof twin --with "--batch 2 --accumulate 4" -- python train.py' },
    { command: 'npx lossproof twin -- python train.py --- torchrun --nproc-per-node 2 train.py' },
  ],
  exit: {
    0: 'every compared run agrees',
    1: 'a change makes a difference',
    2: 'no verdict: nothing could be compared, or the script is not the same twice',
    130: 'interrupted',
  },
};

async function twin(options: Options, rest: readonly string[], context: Context): Promise<number> {
  const asked = askedOf(options, rest);
  if (isProblem(asked)) return refuse(context, asked);
  const unwritable = pageProblem(options.html, context);
  if (unwritable !== undefined) return refuse(context, unwritable);
  const folder = makeTraceFolder(options.out, context, new Date(), join('.lossproof', 'twin'));
  if (typeof folder !== 'string') return refuse(context, folder);
  const print = { width: widthOfScreen(context), paint: choosePaint(context.out.isTty, context.env) };
  const told = options.json !== true && options.quiet !== true;
  if (told)
    say(
      context,
      ...wrap(
        harmless(
          `lossproof ${VERSION} · twin runs of ${joinCommand(asked.command)} · ${plural(options.steps, 'step')} each`,
        ),
        print.width,
      ).map(print.paint.bold),
      '',
    );
  const results: TwinResult[] = [];
  const files = watchFiles(context.cwd, folder);
  let textOf: TextOf = String;
  const ended = await twins({ ...asked, folder, steps: options.steps }, context, {
    begins: (name) => {
      if (told && context.err.isTty) context.err.write(`\r\u001b[Kruns: ${name}`);
    },
    ran: () => files.ended(),
    done: (result, tokenizer) => {
      results.push(result);
      textOf = (id) => tokenText(tokenizer, id);
      if (context.err.isTty && told) context.err.write('\r\u001b[K');
      if (told || (options.json !== true && result.outcome.kind === 'parts'))
        say(context, ...resultLines(result, { ...print, textOf }));
    },
  });
  if (context.err.isTty && told) context.err.write('\r\u001b[K');
  const written = files.written();
  if (options.json === true && ended !== 'interrupted')
    sayDocument(context, JSON.stringify(twinJson(results, { folder, textOf, written }), undefined, 2));
  const notes = writtenSentences(written);
  if (options.json !== true) say(context, ...notes.flatMap((note) => wrap(harmless(note), print.width)));
  const stop =
    ended === 'interrupted' ? { problem: `interrupted; the recording so far is in ${folder}` } : ended;
  const lost = await writePage(
    options.html,
    async () =>
      (await import('../../report/html/twin/twin.ts')).twinPage({
        results,
        command: joinCommand(asked.command),
        steps: options.steps,
        folder,
        textOf,
        notes: [...(stop === undefined ? [] : [sentenceOf(stop)]), ...notes],
      }),
    context,
  );
  if (stop !== undefined) {
    refuse(context, stop);
    const lines = 'lines' in stop ? (stop.lines ?? []) : [];
    for (const line of errorLines(lines, { ...print, textOf })) context.err.write(`${line}\n`);
    return ended === 'interrupted' ? INTERRUPTED : NO_VERDICT;
  }
  if (options.json !== true)
    say(context, '', ...wrap(harmless(verdictLine(results)), print.width).map(print.paint.bold));
  // Who asked for a page has no verdict without it, unless it is a failure.
  if (lost !== undefined) refuse(context, lost);
  const code = { agree: HOLDS, parts: FAILED, untold: NO_VERDICT }[verdictOf(results)];
  return lost !== undefined && code === HOLDS ? NO_VERDICT : code;
}

// --- helpers ---

const sentenceOf = ({ problem }: Problem): string => `${problem[0]?.toUpperCase() ?? ''}${problem.slice(1)}.`;

type Wanted = Pick<Asked, 'command' | 'changes' | 'named' | 'pair' | 'resume'>;

function askedOf(options: Options, rest: readonly string[]): Wanted | Problem {
  const at = rest.indexOf(SEPARATOR);
  const command = at < 0 ? rest : rest.slice(0, at);
  const second = at < 0 ? undefined : rest.slice(at + 1);
  if (command.length === 0)
    return { problem: 'write the command after --, as in `lossproof twin -- python train.py`' };
  if (second?.length === 0) return { problem: `write the second command after ${SEPARATOR}` };
  if (second !== undefined && options.with !== undefined)
    return {
      problem: `--with and a command after ${SEPARATOR} cannot be combined: both name the second run`,
    };
  const { saveArgs, resumeArgs } = options;
  if ((saveArgs === undefined) !== (resumeArgs === undefined))
    return { problem: '--save-args and --resume-args belong together; give both' };
  const names = splitNames(options.change ?? []);
  const unknown = names.find((name) => !CHANGES.some((change) => change.name === name));
  if (unknown !== undefined)
    return {
      problem: `--change: there is no change "${unknown}"; there are ${CHANGES.map(({ name }) => name).join(', ')}`,
    };
  const pair = second ?? (options.with === undefined ? undefined : [...command, ...wordsOf(options.with)]);
  const special = pair !== undefined || saveArgs !== undefined;
  return {
    command,
    named: names.length > 0,
    changes: CHANGES.filter(({ name, ofSize }) =>
      names.length > 0 ? names.includes(name) : !special && ofSize !== true,
    ),
    ...(pair === undefined ? {} : { pair }),
    ...(saveArgs === undefined || resumeArgs === undefined
      ? {}
      : { resume: { save: wordsOf(saveArgs), go: wordsOf(resumeArgs) } }),
  };
}

/** Words as a shell has them, as far as quotes go. */
function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
}

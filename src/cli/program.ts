// The command line as a function: arguments and a world in, an exit code out. Anything wrong with the words
// themselves is one line with the nearest match.
import { Command, CommanderError } from 'commander';
import { nearestName } from '../protocol/nearest.ts';
import { VERSION } from '../version.ts';
import { addCheck } from './check/check.ts';
import { addProfile } from './check/profile.ts';
import { addReplay } from './check/replay.ts';
import { type Context, refuse } from './context.ts';
import { addDataset } from './dataset/dataset.ts';
import { HOLDS, NO_VERDICT } from './exit.ts';
import { addGolden } from './golden/golden.ts';
import { addMonitor } from './monitor/monitor.ts';
import type { Invocation } from './options.ts';
import { addMerge } from './outputs/merge.ts';
import { addReport } from './outputs/report.ts';
import { addDemo } from './start/demo.ts';
import { addDoctor } from './start/doctor.ts';
import { addExplain } from './start/explain.ts';
import { addInit } from './start/init.ts';
import { addList } from './start/list.ts';
import { addTrace } from './trace/trace.ts';
import { addView } from './view/view.ts';

/** Runs `lossproof ...argv`. Throws only for a defect of the harness. */
export async function runProgram(argv: readonly string[], context: Context): Promise<number> {
  // Behind -- stands the trainer's command, with options of its own that are none of ours.
  const split = argv.indexOf('--');
  const words = split < 0 ? argv : argv.slice(0, split);
  let code = HOLDS;
  const program = buildProgram({
    context,
    rest: split < 0 ? [] : argv.slice(split + 1),
    finish: (result) => {
      code = result;
    },
  });
  try {
    await program.parseAsync([...words], { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return HOLDS;
    if (error.code === 'commander.help') {
      named(words, program).outputHelp();
      return NO_VERDICT;
    }
    return refuse(context, { problem: explain(error, words, program) });
  }
}

export function buildProgram(invocation: Invocation): Command {
  const { context } = invocation;
  const program = new Command('lossproof')
    .description('property-based tests for language-model trainers')
    .version(VERSION)
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({
      writeOut: context.out.write,
      // Errors are explained once, by explain(); help asked for by mistake still helps.
      writeErr: () => {},
      getOutHelpWidth: () => context.out.columns,
    })
    .addHelpText('after', EXAMPLES);
  for (const add of [
    addCheck,
    addReport,
    addMerge,
    addReplay,
    addProfile,
    addTrace,
    addMonitor,
    addDataset,
    addView,
    addGolden,
    addList,
    addExplain,
    addDoctor,
    addInit,
    addDemo,
  ])
    add(program, invocation);
  return program;
}

const EXAMPLES = `
Examples:
  npx lossproof init                        write an adapter to start from
  npx lossproof doctor -- python adapter.py say hello, try each op once
  npx lossproof check -- python adapter.py  check every property
  npx lossproof report --open               see the last run as a page
  npx lossproof trace -- python train.py    see what a script really trains
  npx lossproof monitor runs/               see whether the logs of a run hold
  npx lossproof golden --help               see later what of a trainer has changed
  npx lossproof demo                        see six real bugs caught`;

function explain(error: CommanderError, words: readonly string[], program: Command): string {
  const command = named(words, program);
  const said = error.message.replace(/^error: /, '');
  const name = /'([^']*)'/.exec(said)?.[1] ?? '';
  switch (error.code) {
    case 'commander.unknownCommand':
      return withNearest(
        said,
        name,
        command.commands.map((each) => each.name()),
        `\`${pathOf(command)} --help\` lists them`,
      );
    case 'commander.unknownOption': {
      const flags = [...command.options.map((option) => option.long ?? ''), '--help'];
      return withNearest(
        said,
        name,
        flags,
        `\`${pathOf(command)} --help\` lists them; a trainer's own options stand behind --`,
      );
    }
    case 'commander.excessArguments':
      return command.name() === 'trace'
        ? `${said.replace(/\.$/, '')}; the script's command stands behind --, word by word, as in \`lossproof trace -- python train.py\``
        : `${said.replace(/\.$/, '')}; the trainer's command stands behind --, as in \`${command === program ? 'lossproof check' : pathOf(command)} -- python adapter.py\``;
    default:
      return said;
  }
}

/** The command that the first words name, as far as they do. */
function named(words: readonly string[], program: Command): Command {
  const [word, ...rest] = words;
  const command = program.commands.find((each) => each.name() === word);
  return command === undefined ? program : named(rest, command);
}

/** `lossproof golden check`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function withNearest(said: string, name: string, known: readonly string[], otherwise: string): string {
  const bare = (each: string): string => each.replace(/^-+/, '');
  const near = nearestName(bare(name), known.map(bare));
  if (near === undefined) return `${said}; ${otherwise}`;
  return `${said}, did you mean "${known.find((each) => bare(each) === near)}"?`;
}

// The command line as a function: arguments and a world in, an exit code out. Anything wrong with the words
// themselves is one line with the nearest match.
import { Command, CommanderError } from 'commander';
import { nearestName } from '../protocol/nearest.ts';
import { tellStrays } from '../trainer/processes/strays.ts';
import { VERSION } from '../version.ts';
import { addCheck } from './check/check.ts';
import { addProfile } from './check/profile.ts';
import { addReplay } from './check/replay.ts';
import { type Context, refuse } from './context.ts';
import { addDataset } from './dataset/dataset.ts';
import { addDiscover } from './discover/discover.ts';
import { HOLDS, NO_VERDICT } from './exit.ts';
import { addGap } from './gap/gap.ts';
import { addGolden } from './golden/golden.ts';
import { exampleLines, HELP_ALL, isAbridged, layHelpOut, shownCommands } from './help/layout.ts';
import { pathOf, tell, type Words } from './help/words.ts';
import { addMcp } from './mcp/mcp.ts';
import { addMonitor } from './monitor/monitor.ts';
import { addMutate } from './mutate/mutate.ts';
import type { Invocation } from './options.ts';
import { addMerge } from './outputs/merge.ts';
import { addReport } from './outputs/report.ts';
import { addSession } from './session/session.ts';
import { addDemo } from './start/demo.ts';
import { addDoctor } from './start/doctor.ts';
import { addExplain } from './start/explain.ts';
import { addInit } from './start/init.ts';
import { addList } from './start/list.ts';
import { addTrace } from './trace/trace.ts';
import { addTwin } from './twin/twin.ts';
import { addView } from './view/view.ts';

/** Runs `lossproof ...argv`. Throws only for a defect of the harness. */
export async function runProgram(argv: readonly string[], context: Context): Promise<number> {
  // Behind -- stands the trainer's command, with options of its own that are none of ours.
  const split = argv.indexOf('--');
  const words = split < 0 ? argv : argv.slice(0, split);
  let code = HOLDS;
  const program = buildProgram(
    {
      context,
      rest: split < 0 ? [] : argv.slice(split + 1),
      finish: (result) => {
        code = result;
      },
    },
    words.includes(HELP_ALL),
  );
  try {
    if (words.includes(HELP_ALL)) {
      named(words, program).outputHelp();
      return HOLDS;
    }
    await program.parseAsync([...words], { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return HOLDS;
    if (error.code === 'commander.help') {
      named(words, program).outputHelp();
      if (words.length === 0) await tellAtHand(context);
      return NO_VERDICT;
    }
    return refuse(context, { problem: explain(error, words, program) });
  } finally {
    const strays = tellStrays();
    if (strays !== undefined) context.err.write(`lossproof: ${strays}\n`);
  }
}

/** With `isHelpWhole`, help shows every option; without, those that fit one screen. */
export function buildProgram(invocation: Invocation, isHelpWhole = false): Command {
  const { context } = invocation;
  const program = tell(new Command('lossproof'), WORDS)
    .description('find bugs in language-model trainers before training')
    .usage('command [options]')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({
      writeOut: context.out.write,
      // Errors are explained once, by explain(); help asked for by mistake still helps.
      writeErr: () => {},
      getOutHelpWidth: () => context.out.columns,
    });
  layHelpOut(program, isHelpWhole);
  for (const [group, adders] of COMMANDS) {
    program.commandsGroup(group);
    for (const add of adders) add(program, invocation);
  }
  program.addHelpCommand(
    new Command('help').argument('[command]').description('print the help of a command').helpGroup(BEGIN),
  );
  return program;
}

const BEGIN = 'To begin:';
const ABOUT = 'lossproof itself:';

/** By what is at hand: nothing yet, a trainer, a script or a run or data. */
const COMMANDS: readonly (readonly [
  group: string,
  adders: readonly ((program: Command, invocation: Invocation) => void)[],
])[] = [
  [BEGIN, [addDemo, addDiscover, addInit, addDoctor]],
  ['A trainer, through an adapter:', [addCheck, addReplay, addProfile, addGolden, addMutate]],
  ['A script, the logs of a run, a data set:', [addTrace, addTwin, addMonitor, addGap, addView, addDataset]],
  ['Findings and their meaning:', [addReport, addMerge, addExplain, addList, addMcp]],
  [ABOUT, [addSession]],
];

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof init --from trainer.py', does: 'write an adapter of its functions' },
    { command: 'npx lossproof trace -- python train.py', does: 'see what a script really trains' },
  ],
};

/** Below the help of nothing typed: what can be typed here. */
async function tellAtHand(context: Context): Promise<void> {
  const { commandsAtHand } = await import('./start/at-hand.ts');
  const lines = exampleLines(commandsAtHand(context.cwd), context.out.columns, 'In this folder:');
  if (lines.length > 0) context.out.write(`${lines.join('\n')}\n`);
}

function explain(error: CommanderError, words: readonly string[], program: Command): string {
  const command = named(words, program);
  const said = error.message.replace(/^error: /, '');
  const name = /'([^']*)'/.exec(said)?.[1] ?? '';
  switch (error.code) {
    case 'commander.unknownCommand':
      return withNearest(
        said,
        name,
        shownCommands(command).map((each) => each.name()),
        `\`${nameOf(command)} --help\` lists them`,
      );
    case 'commander.unknownOption': {
      const flags = [...command.options.map((option) => option.long ?? ''), '--help', HELP_ALL];
      const list = isAbridged(command) ? HELP_ALL : '--help';
      return withNearest(
        said,
        name,
        flags,
        `\`${nameOf(command)} ${list}\` lists them; write a trainer's own options after --`,
      );
    }
    case 'commander.excessArguments':
      return command.name() === 'trace'
        ? `${said.replace(/\.$/, '')}; write the script's command after --, word by word, as in \`lossproof trace -- python train.py\``
        : `${said.replace(/\.$/, '')}; write the trainer's command after --, as in \`${command === program ? 'lossproof check' : nameOf(command)} -- python adapter.py\``;
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
function nameOf(command: Command): string {
  return ['lossproof', ...pathOf(command)].join(' ');
}

function withNearest(said: string, name: string, known: readonly string[], otherwise: string): string {
  const bare = (each: string): string => each.replace(/^-+/, '');
  const near = nearestName(bare(name), known.map(bare));
  if (near === undefined) return `${said}; ${otherwise}`;
  return `${said}, did you mean "${known.find((each) => bare(each) === near)}"?`;
}

// The command line as a function: arguments and a world in, an exit code out. Anything wrong with the words
// themselves is one line with the nearest match.
import { Command, CommanderError } from 'commander';
import { nearestName } from '../protocol/nearest.ts';
import { tellStrays } from '../trainer/processes/strays.ts';
import { VERSION } from '../version.ts';
import { type Context, refuse } from './context.ts';
import { HOLDS, NO_VERDICT } from './exit.ts';
import { exampleLines, HELP_ALL, isAbridged, layHelpOut, shownCommands } from './help/layout.ts';
import { pathOf, tell, type Words } from './help/words.ts';
import type { Invocation } from './options.ts';

/** Runs `lossproof ...argv`. Throws only for a defect of the harness. */
export async function runProgram(argv: readonly string[], context: Context): Promise<number> {
  // Behind -- stands the trainer's command, with options of its own that are none of ours.
  const split = argv.indexOf('--');
  const words = split < 0 ? argv : argv.slice(0, split);
  let code = HOLDS;
  const program = await buildProgram(
    {
      context,
      rest: split < 0 ? [] : argv.slice(split + 1),
      finish: (result) => {
        code = result;
      },
    },
    { isHelpWhole: words.includes(HELP_ALL), first: words[0] },
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

/**
 * With `isHelpWhole`, help shows every option; without, those that fit one screen. Where `first` is a command, the program has that
 * one alone: the others are not loaded, which is most of the time that a short one takes.
 */
export async function buildProgram(
  invocation: Invocation,
  {
    isHelpWhole = false,
    first,
  }: { readonly isHelpWhole?: boolean; readonly first?: string | undefined } = {},
): Promise<Command> {
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
  const isKnown = COMMANDS.some(([, commands]) => first !== undefined && Object.hasOwn(commands, first));
  for (const [group, commands] of COMMANDS) {
    program.commandsGroup(group);
    for (const [name, load] of Object.entries(commands))
      if (!isKnown || name === first) (await load())(program, invocation);
  }
  program.addHelpCommand(
    new Command('help').argument('[command]').description('print the help of a command').helpGroup(BEGIN),
  );
  return program;
}

const BEGIN = 'To begin:';
const ABOUT = 'lossproof itself:';

type Add = (program: Command, invocation: Invocation) => void;

/** By what is at hand: nothing yet, a trainer, a script or a run or data. A command is loaded where it is named, or all are. */
const COMMANDS: readonly (readonly [
  group: string,
  commands: Readonly<Record<string, () => Promise<Add>>>,
])[] = [
  [
    BEGIN,
    {
      demo: async () => (await import('./start/demo.ts')).addDemo,
      discover: async () => (await import('./discover/discover.ts')).addDiscover,
      init: async () => (await import('./start/init.ts')).addInit,
      doctor: async () => (await import('./start/doctor.ts')).addDoctor,
    },
  ],
  [
    'A trainer, through an adapter:',
    {
      check: async () => (await import('./check/check.ts')).addCheck,
      replay: async () => (await import('./check/replay.ts')).addReplay,
      profile: async () => (await import('./check/profile.ts')).addProfile,
      golden: async () => (await import('./golden/golden.ts')).addGolden,
      mutate: async () => (await import('./mutate/mutate.ts')).addMutate,
    },
  ],
  [
    'A script, the logs of a run, a data set:',
    {
      trace: async () => (await import('./trace/trace.ts')).addTrace,
      twin: async () => (await import('./twin/twin.ts')).addTwin,
      monitor: async () => (await import('./monitor/monitor.ts')).addMonitor,
      gap: async () => (await import('./gap/gap.ts')).addGap,
      view: async () => (await import('./view/view.ts')).addView,
      dataset: async () => (await import('./dataset/dataset.ts')).addDataset,
    },
  ],
  [
    'Findings and their meaning:',
    {
      report: async () => (await import('./outputs/report.ts')).addReport,
      merge: async () => (await import('./outputs/merge.ts')).addMerge,
      explain: async () => (await import('./start/explain.ts')).addExplain,
      list: async () => (await import('./start/list.ts')).addList,
      mcp: async () => (await import('./mcp/mcp.ts')).addMcp,
    },
  ],
  [
    ABOUT,
    {
      session: async () => (await import('./session/session.ts')).addSession,
    },
  ],
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

// `golden`: the answers of a trainer to a fixed set of cases, written down once and compared with ever after.
import type { Command } from 'commander';
import { addTrainerOptions, collect, type Invocation } from '../options.ts';
import { addOutputOptions } from '../outputs/outputs.ts';
import { type CheckGoldenOptions, checkGolden } from './check.ts';
import { GOLDEN_FOLDER } from './open.ts';
import { type AcceptGoldenOptions, acceptGolden, type RecordGoldenOptions, recordGolden } from './write.ts';

export function addGolden(program: Command, { context, rest, finish }: Invocation): void {
  const golden = program
    .command('golden')
    .description('record what a trainer answers, and say later what of it has changed')
    .addHelpText('after', EXAMPLES);
  const record = inFolder(golden.command('record'))
    .description('write the answers to the golden cases down')
    .usage('[options] [-- trainer command...]')
    .option('--force', 'record anew where files are already');
  addTrainerOptions(record).action(async (options: RecordGoldenOptions) =>
    finish(await recordGolden(options, rest, context)),
  );
  const check = inFolder(golden.command('check'))
    .description('compare the answers with the recorded ones')
    .usage('[options] [-- trainer command...]')
    .option('--only <ids>', 'entries by id, stage or glob, separated by commas; repeatable', collect)
    .option('--rows', 'print a row for each entry; otherwise those that hold share one a stage')
    .option('--quiet', 'print failures and the final line only');
  addOutputOptions(check).option(
    '--no-annotations',
    'in GitHub Actions, neither annotate the job nor write its summary',
  );
  addTrainerOptions(check)
    .addHelpText('after', CODES)
    .action(async (options: CheckGoldenOptions) => finish(await checkGolden(options, rest, context)));
  const accept = inFolder(golden.command('accept [ids...]'))
    .description('take a change: ask again for these entries and write them, and no others')
    .usage('[options] ids... [-- trainer command...]')
    .option('--all', 'every entry that is another one now');
  addTrainerOptions(accept).action(async (ids: string[], options: AcceptGoldenOptions) =>
    finish(await acceptGolden(ids, options, rest, context)),
  );
}

function inFolder(command: Command): Command {
  return command.option('--dir <folder>', 'where the golden files are', GOLDEN_FOLDER);
}

const CODES = `
Exit code: 0 all the same, 1 an entry changed, is missing, unknown, stale or errs, 2 no verdict, 130 interrupted.`;

const EXAMPLES = `
Examples:
  npx lossproof golden record -- python adapter.py
  npx lossproof golden check -- python adapter.py
  npx lossproof golden check --only 'mask/*,kl' --html golden.html -- python adapter.py
  npx lossproof golden accept mask/several-stops 'kl/*' -- python adapter.py
  npx lossproof golden check --adapter trl-grpo --dir golden/trl
${CODES}
docs/golden.md tells what is recorded, and how a difference reads.`;

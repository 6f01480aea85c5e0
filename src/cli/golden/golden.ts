// `golden`: the answers of a trainer to a fixed set of cases, written down once and compared with ever after.
import type { Command } from 'commander';
import { tell, type Words } from '../help/words.ts';
import { addTrainerOptions, collect, type Invocation } from '../options.ts';
import { addOutputOptions } from '../outputs/outputs.ts';
import { type CheckGoldenOptions, checkGolden } from './check.ts';
import { GOLDEN_FOLDER } from './open.ts';
import { type AcceptGoldenOptions, acceptGolden, type RecordGoldenOptions, recordGolden } from './write.ts';

export function addGolden(program: Command, { context, rest, finish }: Invocation): void {
  const golden = tell(program.command('golden'), WORDS)
    .summary('record answers, and report later changes')
    .description('record the answers of a trainer, and report later changes');
  const record = inFolder(golden.command('record'))
    .description('record the answers to the golden cases')
    .usage('[options] [-- trainer command...]')
    .option('--force', 'replace existing files');
  addTrainerOptions(tell(record, RECORD)).action(async (options: RecordGoldenOptions) =>
    finish(await recordGolden(options, rest, context)),
  );
  const check = inFolder(golden.command('check'))
    .description('compare the answers with the recorded ones')
    .usage('[options] [-- trainer command...]')
    .option('--only <ids>', 'entries by id, stage or glob, separated by commas; repeatable', collect)
    .option('--rows', 'print one line per entry; default: entries that hold are grouped by stage')
    .option('--quiet', 'print failures and the final line only');
  addOutputOptions(check).option(
    '--no-annotations',
    'do not annotate the job or write its summary in GitHub Actions',
  );
  addTrainerOptions(tell(check, CHECK)).action(async (options: CheckGoldenOptions) =>
    finish(await checkGolden(options, rest, context)),
  );
  const accept = inFolder(golden.command('accept [ids...]'))
    .description('accept a change: record these entries again, and no others')
    .usage('[options] ids... [-- trainer command...]')
    .option('--all', 'every changed entry');
  addTrainerOptions(tell(accept, ACCEPT)).action(async (ids: string[], options: AcceptGoldenOptions) =>
    finish(await acceptGolden(ids, options, rest, context)),
  );
}

function inFolder(command: Command): Command {
  return command.option('--dir <folder>', 'folder of the golden files', GOLDEN_FOLDER);
}

const EXIT = {
  0: 'all answers are the same',
  1: 'an entry has changed, is missing, unknown or stale, or has an error',
  2: 'no verdict',
  130: 'interrupted',
} as const;

const RECORD: Words = {
  examples: [
    { command: 'npx lossproof golden record -- python adapter.py' },
    { command: 'npx lossproof golden record --adapter trl-grpo --dir golden/trl' },
  ],
  exit: { 0: 'written', 2: 'not written, with the reason', 130: 'interrupted' },
};

const CHECK: Words = {
  examples: [
    { command: 'npx lossproof golden check -- python adapter.py' },
    { command: "npx lossproof golden check --only 'mask/*,kl' --html golden.html -- python adapter.py" },
    { command: 'npx lossproof golden check --adapter trl-grpo --dir golden/trl' },
  ],
  exit: EXIT,
};

const ACCEPT: Words = {
  examples: [
    { command: "npx lossproof golden accept mask/several-stops 'kl/*' -- python adapter.py" },
    { command: 'npx lossproof golden accept --all -- python adapter.py' },
  ],
};

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof golden record -- python adapter.py' },
    { command: 'npx lossproof golden check -- python adapter.py' },
    { command: "npx lossproof golden accept mask/several-stops 'kl/*' -- python adapter.py" },
  ],
  exit: EXIT,
  notes: ['docs/golden.md explains what is recorded, and how to read a difference.'],
};

// `view`: the masks of one's own data set. Which tokens of each row will be trained, and what is wrong with them.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { choosePaint } from '../../report/text/paint.ts';
import { harmless } from '../../report/text/visible.ts';
import { viewLines } from '../../report/view/view.ts';
import { TRAIN_ON } from '../../view/row.ts';
import { type Keep, openScanner, type View } from '../../view/scan.ts';
import { type Context, isProblem, type Problem, refuse, say, sayDocument } from '../context.ts';
import { FAILED, HOLDS } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import { type Invocation, wholePositive } from '../options.ts';
import { pageProblem, writePage } from '../outputs/page.ts';
import { widthOfScreen } from '../screen.ts';
import { type ConfigurationOptions, type Configured, openConfiguration } from './configuration.ts';
import { type Given, sourceOf } from './source.ts';
import { worldOf } from './world.ts';

interface Options extends Given, ConfigurationOptions {
  readonly rows: number;
  readonly row?: readonly number[];
  readonly all?: boolean;
  readonly full?: boolean;
  readonly strip?: boolean;
  readonly html?: string;
  readonly htmlRows: number;
  readonly strict?: boolean;
  readonly json?: boolean;
  readonly config?: string;
}

export function addView(program: Command, { context, finish }: Invocation): void {
  tell(program.command('view'), WORDS)
    .summary('show which tokens of a data set are trained')
    .description('show which tokens of a data set are trained, and flag rows whose mask is wrong')
    .argument(
      '[data]',
      'file of JSON lines, one JSON array, or Parquet; also packed with gzip; - reads standard input',
    )
    .option(
      '--config <file>',
      "a trainer's own configuration, or its launch script: its data, tokenizer and settings",
    )
    .option('--by-rules', "rows of --config by documented rules: the installed trainer's code does not run")
    .option('--python <path>', 'Python with the trainer of --config (default: the one that trainers run in)')
    .option(
      '--tokenizer <dir>',
      "folder with tokenizer.json (default: the configuration's); tokenizer.save_pretrained(DIR) writes one",
    )
    .option('--template <file>', "chat template to use in place of the tokenizer's")
    .addOption(
      new Option('--train-on <what>', 'which tokens are trained if a row does not say').choices(TRAIN_ON),
    )
    .option('--max-length <tokens>', 'cut rows to this length, as the trainer will', wholePositive)
    .addOption(
      new Option('--truncation-side <side>', 'the end that is cut off')
        .choices(['right', 'left'])
        .default('right'),
    )
    .option(
      '--stop <tokens>',
      'further tokens that end an answer, by name or id, separated by commas',
      (text) => text.split(','),
    )
    .option('--conversation <json>', 'show this row: messages, or an object of any shape that view reads')
    .option('--ids <ids>', 'its input_ids, separated by commas', wholeNumbers)
    .option('--labels <labels>', 'its labels, separated by commas', wholeNumbers)
    .option('--rows <count>', 'rows to show, flagged ones first', wholePositive, SHOWN_ROWS)
    .option('--row <numbers>', 'show these rows, separated by commas', wholeNumbers)
    .option('--all', 'show every row')
    .option('--full', 'show every line of long turns')
    .option('--strip', 'show token, id, role and label of each row, aligned')
    .option('--html <file>', 'write a page with the rows')
    .option('--html-rows <count>', 'rows on the page', wholePositive, PAGE_ROWS)
    .option('--strict', 'also fail on notes')
    .option('--json', 'print one JSON object')
    .action(async (data: string | undefined, options: Options) => finish(await view(data, options, context)));
}

const SHOWN_ROWS = 3;
/** Drawn, searched and made when they are asked for; fewer stand on the page from the beginning. */
const PAGE_ROWS = 10_000;

const WORDS: Words = {
  listing: {
    heading: 'Rows are read in these shapes:',
    lines: [
      '{"messages": [{"role": "user", "content": ...}, ...]}',
      '{"conversations": [{"from": "human", "value": ...}, ...]}',
      '{"prompt": text or messages, "completion": text or messages}',
      '{"prompt", "chosen", "rejected"}, the prompt inside both or by itself',
      '{"text": ...}, {"instruction", "input", "output"}',
      '{"input_ids", "attention_mask", "labels" | "completion_mask" |',
      ' "assistant_masks" | "loss_mask"}',
    ],
  },
  examples: [
    { command: 'npx lossproof view data.jsonl --tokenizer ./my-model' },
    { command: 'npx lossproof view data.jsonl --tokenizer ./my-model --html masks.html' },
    { command: 'npx lossproof view --config train.yaml' },
    { command: 'npx lossproof view data.jsonl --tokenizer ./my-model --max-length 2048' },
    { command: 'npx lossproof view --tokenizer ./my-model --ids 1,2,3 --labels -100,2,3' },
    {
      command: `npx lossproof view --tokenizer ./my-model --conversation '[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]'`,
    },
  ],
  exit: { 0: 'no row is flagged', 1: 'some rows are', 2: 'nothing could be read' },
};

async function view(data: string | undefined, options: Options, context: Context): Promise<number> {
  const idle =
    options.byRules === true ? '--by-rules' : options.python === undefined ? undefined : '--python';
  if (options.config === undefined && idle !== undefined)
    return refuse(context, { problem: `${idle} belongs to --config: name the configuration of a trainer` });
  const unwritable = pageProblem(options.html, context);
  if (unwritable !== undefined) return refuse(context, unwritable);
  const configured =
    options.config === undefined ? undefined : await configuredBy(options.config, data, options, context);
  if (configured !== undefined && isProblem(configured)) return refuse(context, configured);
  const source = configured?.source ?? (await sourceOf(data, options, context));
  if (isProblem(source)) return refuse(context, source);
  const world = configured?.world ?? (await worldOf(options, context));
  if (isProblem(world)) return refuse(context, world);
  const most =
    options.all === true
      ? Number.POSITIVE_INFINITY
      : Math.max(options.rows, options.html === undefined ? 0 : options.htmlRows);
  const keep: Keep = { most, ...(options.row === undefined ? {} : { numbers: new Set(options.row) }) };
  const scanner = openScanner(world, keep);
  const unread = await source.each((entry) => {
    // Rows are made one after the other, and no timer runs meanwhile.
    context.endWithStarter?.();
    scanner.look(entry);
  });
  if (unread !== undefined) return refuse(context, unread);
  const after = configured?.after();
  if (after?.unsupported !== undefined) return refuse(context, { problem: after.unsupported });
  const scanned = scanner.end();
  const seen: View =
    configured === undefined
      ? scanned
      : {
          ...scanned,
          assumed: [...configured.read, ...scanned.assumed],
          settings: [...configured.faults, ...(after?.faults ?? [])],
        };
  // A configuration that is wrong may be why no row is right.
  const wrong = seen.settings?.some(({ note }) => note !== true) === true;
  if (seen.unread === seen.rows && !wrong) return refuse(context, { problem: problemOf(seen, source.name) });
  const of = [
    source.name,
    world.tokenizer === undefined ? 'no tokenizer' : `tokenizer ${world.tokenizer.name}`,
  ];
  const print = {
    width: widthOfScreen(context),
    paint: choosePaint(context.out.isTty, context.env),
    of,
    strip: options.strip === true,
    full: options.full === true,
  };
  const shown =
    options.row === undefined && options.all !== true ? seen.kept.slice(0, options.rows) : seen.kept;
  const fails = isWrong(seen, options.strict === true);
  if (options.json === true) {
    const { viewJson } = await import('../../report/view/json.ts');
    sayDocument(context, viewJson({ ...seen, kept: shown }, of, fails));
  } else say(context, ...viewLines({ ...seen, kept: shown }, print));
  const missing = (options.row ?? []).filter((row) => !seen.kept.some(({ number }) => number === row));
  if (missing.length > 0) context.err.write(`lossproof: there is no row ${missing.join(', ')}\n`);
  const lost = await writePage(
    options.html,
    async () => (await import('../../report/html/view/view.ts')).viewPage(seen, { of }),
    context,
  );
  if (lost !== undefined) return refuse(context, lost);
  if (options.html !== undefined && options.json !== true) say(context, `wrote ${options.html}`);
  return fails ? FAILED : HOLDS;
}

function isWrong({ flagged, counts, settings = [] }: View, strict: boolean): boolean {
  if (flagged > 0 || settings.some(({ note }) => note !== true)) return true;
  return strict && (counts.length > 0 || settings.length > 0);
}

async function configuredBy(
  file: string,
  data: string | undefined,
  options: Options,
  context: Context,
): Promise<Configured | Problem> {
  if (options.conversation !== undefined || options.ids !== undefined)
    return { problem: 'give either --config or a row with --conversation and --ids, not both' };
  return openConfiguration(file, data, options, context);
}

/** Every row has a problem, most often the same. */
function problemOf({ rows, kept, counts }: View, name: string): string {
  const sentence = harmless(kept[0]?.faults.at(-1)?.sentence ?? counts[0]?.example ?? '');
  if (rows === 0) return `${name} has no rows`;
  return rows === 1 ? sentence : `none of the ${rows} rows of ${name} can be read. The first: ${sentence}`;
}

function wholeNumbers(text: string): readonly number[] {
  const values = text
    .replace(/^\[|\]$/g, '')
    .split(',')
    .map(Number);
  if (!values.every(Number.isInteger))
    throw new InvalidArgumentError('It must be whole numbers separated by commas.');
  return values;
}

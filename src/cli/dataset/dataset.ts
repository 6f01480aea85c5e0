// `dataset`: writes an adversarial training set, each row a case, for a traced run to train on.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { DATASET_FORMS, type DatasetForm, datasetOf } from '../../generators/rows/dataset/dataset.ts';
import { quoted } from '../../report/failure/reproduce.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { loadTokenizer } from '../../tokenizers/load.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import { namedTokenizer } from '../check/plan.ts';
import { loadConfig } from '../config/config.ts';
import { type Context, isProblem, type Problem, refuse, say } from '../context.ts';
import { FAILED, HOLDS } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import { type Invocation, seedNumber, wholePositive } from '../options.ts';
import { unwritable, writeWhole } from '../outputs/written.ts';
import { widthOfScreen } from '../screen.ts';
import { coverageLines } from './lines.ts';

interface Options {
  readonly form: DatasetForm;
  readonly rows: number;
  readonly seed: number;
  readonly tokenizer?: string;
  readonly maxTokens: number;
  readonly tools?: boolean;
  readonly system?: boolean;
  readonly empty: boolean;
  readonly force?: boolean;
}

/** Every kind of row has room in it. */
const ROWS = 32;
/** What the smallest of models has room for, and no trainer cuts without being told to. */
const MOST_TOKENS = 256;
/** More are no training set for a few traced steps. */
const MOST_ROWS = 10_000;

export function addDataset(program: Command, { context, finish }: Invocation): void {
  tell(program.command('dataset'), WORDS)
    .summary('write a training set of hard cases for trace')
    .description('write a training set in which each row is a hard case, for `trace` to train on')
    .argument('<file>', 'file to write, as JSON lines')
    .addOption(new Option('--form <form>', 'form of the rows').choices(DATASET_FORMS).makeOptionMandatory())
    .option('--rows <count>', 'rows to write', wholePositive, ROWS)
    .option('--seed <seed>', 'the same seed writes the same rows', seedNumber, 1)
    .option(
      '--tokenizer <dir>',
      "folder with tokenizer.json; rows then suit its chat template and contain its special tokens (default: the configuration's)",
    )
    .option('--max-tokens <count>', 'tokens of the longest row', wholePositive, MOST_TOKENS)
    .option('--system', 'include system messages (with --tokenizer, its template decides)')
    .option('--tools', 'include conversations that call a tool')
    .option('--no-empty', 'include no empty answers')
    .option('--force', 'overwrite an existing file')
    .action(async (file: string, options: Options) => finish(await dataset(file, options, context)));
}

const WORDS: Words = {
  listing: {
    heading: 'Forms, each in the keys that trainers read:',
    lines: [
      'chat               {"messages": [{"role": "user", "content": ...}, ...]}',
      'prompt-completion  {"prompt": text, "completion": text}',
      'preference         {"prompt": text, "chosen": text, "rejected": text}',
      'prompt             {"prompt": text}',
    ],
  },
  examples: [
    { command: 'npx lossproof dataset hard.jsonl --form chat --tokenizer ./my-model' },
    { command: 'npx lossproof trace --dataset hard.jsonl --keep-going -- python train.py' },
    { command: 'npx lossproof trace --dataset hard.jsonl --shrink 20 -- python train.py' },
  ],
  exit: { 0: 'written', 1: 'written, but a kind of row is missing', 2: 'not written' },
};

async function dataset(file: string, options: Options, context: Context): Promise<number> {
  const { form, rows, seed, maxTokens } = options;
  const problem = problemOf(file, options, context);
  if (problem !== undefined) return refuse(context, problem);
  const known = await tokenizerFor(options, context);
  if (isProblem(known)) return refuse(context, known);
  const { tokenizer } = known;
  const template = tokenizer?.chatTemplate;
  if (options.tools === true && tokenizer !== undefined && template === undefined)
    return refuse(context, {
      problem: `--tools: ${tokenizer.name} has no chat template that could take a tool's result`,
    });
  const made = datasetOf({
    form,
    rows,
    seed,
    mostTokens: maxTokens,
    tokenizer,
    system: options.system === true || template !== undefined,
    tools: options.tools === true,
    empty: options.empty,
  });
  if (made.rows.length === 0)
    return refuse(context, { problem: `no row of this form can be made. ${made.left[0]?.why ?? ''}` });
  const why = writeWhole(
    resolve(context.cwd, file),
    made.rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  );
  if (why !== undefined) return refuse(context, { problem: `${file} ${why}` });
  const given = form === 'prompt' ? '' : ` --dataset ${quoted(file)}`;
  say(
    context,
    ...coverageLines(made, {
      file,
      form,
      seed,
      counted: `at most ${maxTokens} tokens each, ${countedBy(tokenizer, form)}`,
      use: `npx lossproof trace${given} --keep-going -- python train.py ${quoted(file)}`,
      width: widthOfScreen(context),
      paint: choosePaint(context.out.isTty, context.env),
    }),
  );
  return made.thin.length > 0 ? FAILED : HOLDS;
}

// --- helpers ---

function problemOf(
  file: string,
  { rows, force, form, tools }: Options,
  { cwd }: Context,
): Problem | undefined {
  if (rows > MOST_ROWS) return { problem: `--rows: ${MOST_ROWS.toLocaleString('en')} are written at most` };
  if (tools === true && form !== 'chat')
    return { problem: `--tools is of conversations: --form chat has tool calls, ${form} has none` };
  if (force !== true && existsSync(resolve(cwd, file)))
    return { problem: `${file} is there already; --force writes over it` };
  const why = unwritable(resolve(cwd, file));
  return why === undefined ? undefined : { problem: `${file} ${why}` };
}

async function tokenizerFor(
  options: Options,
  context: Context,
): Promise<{ readonly tokenizer: Tokenizer | undefined } | Problem> {
  const loaded = options.tokenizer === undefined ? await loadConfig(context, undefined, 'glance') : undefined;
  if (loaded !== undefined && isProblem(loaded)) return loaded;
  const folder = namedTokenizer(options, loaded, context.cwd);
  return folder === undefined ? { tokenizer: undefined } : loadTokenizer(folder);
}

function countedBy(tokenizer: Tokenizer | undefined, form: DatasetForm): string {
  if (tokenizer === undefined) return 'a byte counted as one, for no tokenizer is known';
  const by = form === 'chat' && tokenizer.chatTemplate !== undefined ? "'s chat template" : "'s tokens";
  return `by ${tokenizer.name}${by}`;
}

// `gap`: why the log-probabilities of a rollout and of the trainer disagree, from files that have both.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Gap, gapOf, withModel } from '../../gap/gap.ts';
import { sidesOf } from '../../gap/model.ts';
import type { Complaint } from '../../gap/read/logprobs.ts';
import { lacks, type Names } from '../../gap/read/read.ts';
import { hasBoth } from '../../gap/read/sides.ts';
import { gapLines } from '../../report/gap/gap.ts';
import { gapJson } from '../../report/gap/json.ts';
import type { Judged } from '../../report/gap/model.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { plural } from '../../report/text/plural.ts';
import { loadTokenizer } from '../../tokenizers/load.ts';
import { tokenText } from '../../tokenizers/text.ts';
import { type Context, isProblem, type Problem, refuse, say, sayDocument } from '../context.ts';
import { FAILED, HOLDS, INTERRUPTED, NO_VERDICT } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import type { Invocation } from '../options.ts';
import { pageProblem, writePage } from '../outputs/page.ts';
import { widthOfScreen } from '../screen.ts';
import { type ModelOptions, type ModelRun, modelProblem, scoreWithModel } from './model.ts';
import { type Read, readRollouts } from './rollouts.ts';

interface Options extends Partial<Names>, ModelOptions {
  readonly tokenizer?: string;
  readonly html?: string;
  readonly json?: boolean;
}

export function addGap(program: Command, { context, finish }: Invocation): void {
  tell(program.command('gap'), WORDS)
    .summary('find why rollout and trainer log-probabilities differ')
    .description(
      'compare the log-probabilities of the inference engine and of the trainer for the same tokens, and find the cause of the difference',
    )
    .argument(
      '<rollouts...>',
      'JSON lines or Parquet (also .gz; - is standard input), or the folder of a trace',
    )
    .option('--sampling <field>', "field with the engine's log-probabilities (default: by its name)")
    .option('--trainer <field>', "field with the trainer's log-probabilities (default: by its name)")
    .option('--model <dir>', 'model folder: which side is wrong, or the side that rows lack')
    .option('--python <path>', 'Python with transformers, for --model')
    .option('--tokenizer <dir>', 'folder with tokenizer.json, for the text of tokens')
    .option('--html <file>', 'write a page with both sides, tokens and causes')
    .option('--json', 'print the measures, the causes and the verdict as JSON')
    .action(async (files: readonly string[], options: Options) => finish(await gap(files, options, context)));
}

const WORDS: Words = {
  listing: {
    heading: 'A row has the ids of a completion and two lists (one with --model), as in:',
    lines: [
      '{"prompt_ids": [...], "completion_ids": [...],',
      ' "rollout_log_probs": [...], "old_log_probs": [...],',
      ' "weights_version": 17, "step": 18, "response_mask": [...]}',
    ],
  },
  examples: [
    { command: 'npx lossproof gap rollouts.jsonl' },
    { command: 'npx lossproof gap .lossproof/trace' },
    { command: 'npx lossproof gap rollouts.jsonl --model ./model --python .venv/bin/python' },
    { command: 'npx lossproof gap 100.jsonl 101.jsonl --tokenizer ./model --html gap.html' },
    { command: 'npx lossproof gap rollouts.parquet --sampling vllm_logps --trainer fsdp_logps' },
  ],
  notes: [
    'Fields of vLLM, SGLang, TRL, verl, OpenRLHF, SkyRL, slime, AReaL and NeMo-RL are known. 200 rows are enough.',
  ],
  exit: {
    0: 'the gap is rounding noise',
    1: 'a cause predicts the gap',
    2: 'no verdict: the gap is too large for rounding and no cause predicts it, or rows could not be compared',
    130: 'interrupted',
  },
};

async function gap(files: readonly string[], options: Options, context: Context): Promise<number> {
  const unwritable = pageProblem(options.html, context) ?? modelProblem(options, context);
  if (unwritable !== undefined) return refuse(context, unwritable);
  const textOf = textsOf(options.tokenizer, context);
  if (isProblem(textOf)) return refuse(context, textOf);
  const read = await readGiven(files, options, context);
  if (isProblem(read)) return refuse(context, read);
  const name = files.join(', ');
  const both = read.missing === undefined ? gapOf(read.rollouts.filter(hasBoth)) : undefined;
  if (both !== undefined && 'complaint' in both)
    return refuse(context, { problem: `${both.complaint}${leftOutOf(read)}` });
  const run = await modelRun(read, options, context);
  const unscored = run !== undefined && isProblem(run) ? run : undefined;
  const scored = run === undefined || isProblem(run) ? undefined : run;
  const first = both ?? (scored && oneSided(read, scored));
  if (first === undefined) return refuse(context, unscored ?? { problem: lacks('trainer') });
  if ('complaint' in first) return refuse(context, { problem: `${first.complaint}${leftOutOf(read)}` });
  const found = scored === undefined ? first : withModel(first, scored.judged.against);
  const judged = scored?.judged;
  if (options.json === true)
    sayDocument(
      context,
      JSON.stringify(gapJson(found, { leftOut: read.leftOut, textOf: textOf.of, judged }), undefined, 2),
    );
  else {
    const print = {
      width: widthOfScreen(context),
      paint: choosePaint(context.out.isTty, context.env),
      name,
    };
    say(context, ...gapLines(found, print, judged));
  }
  const left = leftOutOf(read).slice(SEPARATOR.length);
  const lost = await writePage(
    options.html,
    async () =>
      (await import('../../report/html/gap/gap.ts')).gapPage({
        gap: found,
        name,
        textOf: textOf.of,
        notes: [left, unscored?.problem ?? ''].filter((note) => note !== ''),
        judged,
      }),
    context,
  );
  for (const problem of [left, unscored?.problem ?? '', lost?.problem ?? ''])
    if (problem !== '') refuse(context, { problem });
  if (scored?.interrupted === true) return INTERRUPTED;
  const code = codeOf(found, judged, left !== '');
  // Who asked for a page, or for a model, has no verdict without it, unless it is a cause.
  return code === HOLDS && (lost !== undefined || unscored !== undefined) ? NO_VERDICT : code;
}

async function readGiven(
  files: readonly string[],
  options: Options,
  context: Context,
): Promise<Read | Problem> {
  const { isFolder, readTraced } = await import('./traced.ts');
  const folder = files.find((file) => file !== '-' && isFolder(file, context));
  if (folder !== undefined)
    return files.length === 1
      ? readTraced(folder, context)
      : { problem: `${folder} is a folder; name one folder of a trace, or files of rollouts` };
  return readRollouts(files, { ...options, alone: options.model !== undefined }, context);
}

/** The side that the files have, beside the model. */
function oneSided({ missing = 'trainer' }: Read, { judged, rollouts }: ModelRun): Gap | Complaint {
  const side = judged.against[missing === 'trainer' ? 'engine' : 'trainer'];
  return gapOf(rollouts, side && { missing, analysis: side.analysis });
}

function modelRun(
  { rollouts, missing }: Read,
  { model, python }: ModelOptions,
  context: Context,
): Promise<ModelRun | Problem | undefined> {
  if (model === undefined) return Promise.resolve(undefined);
  return scoreWithModel(rollouts, { model, missing, ...(python === undefined ? {} : { python }) }, context);
}

interface Texts {
  /** Of an id; undefined without a tokenizer. */
  readonly of: ((id: number) => string) | undefined;
}

function textsOf(folder: string | undefined, { cwd }: Context): Texts | Problem {
  if (folder === undefined) return { of: undefined };
  const loaded = loadTokenizer(resolve(cwd, folder));
  if (isProblem(loaded)) return loaded;
  return { of: (id) => tokenText(loaded.tokenizer, id) };
}

/** Rows that nobody could compare are no noise. A model names causes of a gap; where there is none, both sides agree. */
function codeOf({ analysis: { verdict } }: Gap, judged: Judged | undefined, isPartial: boolean): number {
  if (verdict === 'noise') return isPartial ? NO_VERDICT : HOLDS;
  const named =
    judged !== undefined && sidesOf(judged.against).some(({ side }) => side.analysis.verdict === 'cause');
  return verdict === 'cause' || named ? FAILED : NO_VERDICT;
}

const SEPARATOR = '; ';

function leftOutOf({ leftOut: { rows, first } }: Read): string {
  return first === undefined ? '' : `${SEPARATOR}${plural(rows, 'row')} left out, the first because ${first}`;
}

// A traced run on a terminal: what was seen and what was not, and a few rows with their targets and weights. The
// properties' own table and failures are terminal.ts, as for any run.
import type { PropertyResult } from '../../check/events.ts';
import type { Strip } from '../../check/property.ts';
import type { Ledger, LedgerModel, LedgerRow } from '../../trace/ledger.ts';
import { isScorer, scoresOnly } from '../../trace/scorers.ts';
import { segmentsOf } from '../../trace/spans/segments.ts';
import { lossWords } from '../../trace/terms.ts';
import type { Paint } from '../text/paint.ts';
import { plural } from '../text/plural.ts';
import { stripLines } from '../text/strip.ts';
import { harmless, pad, widthOf, wrap } from '../text/visible.ts';
import {
  edgesOf,
  originOf,
  placeOf,
  realCount,
  rowsToShow,
  type ShownRow,
  stripOfRow,
  trainedCount,
  weightText,
} from './rows.ts';
import { hasSeveralRanks, type StepSum, shardWords, stepSums } from './steps.ts';

export interface TracePrint {
  readonly width: number;
  readonly paint: Paint;
}

/** Processes, versions, models, where settings are known from, and the steps. */
export function seenLines(ledger: Ledger, { width, paint }: TracePrint): string[] {
  const { processes, versions, settings, tokenizer, generations } = ledger;
  const several = hasSeveralRanks(ledger);
  const steps = stepSums(ledger);
  const facts: (readonly [string, string])[] = [
    ...ledger.models.map((model) => modelFact(model, several, ledger)),
    ...(tokenizer === undefined
      ? []
      : [['tokenizer', `${tokenizer.name}, ${tokenizer.vocabSize.toLocaleString('en')} tokens`] as const]),
    ...(settings.from.length === 0 ? [] : [['settings', settings.from.join(', ')] as const]),
    ...lossWords(ledger).map((words) => ['loss', words] as const),
    ...packedFacts(ledger),
    ...sampledFacts(generations),
    ...steps.slice(0, MOST_STEPS).map((step) => stepFact(step, several, scoresOnly(ledger))),
    ...(steps.some(({ done }) => typeof done?.gradientNorm === 'number') ? [['', AS_GOT] as const] : []),
    ...(steps.length > MOST_STEPS ? [['...', plural(steps.length - MOST_STEPS, 'more step')] as const] : []),
  ];
  const label = Math.max(0, ...facts.map(([name]) => widthOf(name))) + GAP.length;
  const idle = processes.filter(({ end }) => end?.torch === false).length;
  const head = [
    `seen: ${plural(processes.length, 'process', 'processes')}${idle > 0 ? `, ${idle} without torch` : ''}`,
    ...Object.entries(versions).map(([name, version]) => `${name} ${version}`),
    ...overhead(ledger),
  ].join(' · ');
  return [
    ...wrap(harmless(head), width).map(paint.bold),
    ...facts.flatMap(([name, text]) =>
      wrap(harmless(text), width - INDENT.length - label).map(
        (line, at) => INDENT + paint.dim(pad(at === 0 ? name : '', label)) + line,
      ),
    ),
  ];
}

/** What attention allows in rows that hold several examples, as their positions say. */
function packedFacts({ rows }: Ledger): (readonly [string, string])[] {
  const packed = rows.filter((row) => row.reached && segmentsOf(row).length > 1);
  if (packed.length === 0) return [];
  const seen = packed.filter(({ across }) => across !== undefined);
  const open = seen.filter(({ across }) => across === true).length;
  const allowed =
    seen.length === 0
      ? 'what attention allows between them was not seen'
      : open === 0
        ? 'attention keeps them apart'
        : `attention lets each see those before it${open < seen.length ? ` in ${open} of ${plural(seen.length, 'row')}` : ''}`;
  return [
    ['packed', `${plural(packed.length, 'row')} of several examples: positions begin again, ${allowed}`],
  ];
}

/** How many sequences each sampler drew, and with which settings, where they are known. */
function sampledFacts(generations: Ledger['generations']): (readonly [string, string])[] {
  const sources = [...new Set(generations.map(({ source = 'generate' }) => source))];
  return sources.map((source) => {
    const own = generations.filter((each) => (each.source ?? 'generate') === source);
    const told = [
      settingWords(
        'temperature',
        own.map(({ temperature }) => temperature),
      ),
      settingWords(
        'top-p',
        own.map(({ topP }) => topP),
      ),
      settingWords(
        'top-k',
        own.map(({ topK }) => topK),
      ),
    ].flat();
    const at = told.length === 0 ? '' : ` at ${told.join(', ')}`;
    const besides = [
      ...(own.some(({ moved }) => moved) ? ['some of their logits moved by a penalty or a bias'] : []),
      ...(own.some(({ unread, temperature }) => unread && temperature === undefined)
        ? ['the temperature could not be read']
        : []),
    ];
    return [
      'sampled',
      [`${plural(own.length, 'sequence')} by ${samplerOf(source)}${at}`, ...besides].join(' · '),
    ];
  });
}

/** "temperature 0.7", "top-p 0.8 or 0.9"; nothing where none of them has it. */
function settingWords(name: string, values: readonly (number | undefined)[]): string[] {
  const known = [...new Set(values.filter((value) => value !== undefined))];
  return known.length === 0 ? [] : [`${name} ${known.join(' or ')}`];
}

function samplerOf(source: string): string {
  if (source === 'generate') return 'generate()';
  return source === 'loop' ? "the script's own loop" : source === 'server' ? 'a server' : source;
}

/** `2 steps, 8 rows, 36 tokens trained`: what the verdict rests on. */
export function seenWords(ledger: Ledger): string {
  const sums = stepSums(ledger);
  const made = new Set(sums.filter(({ done }) => done !== undefined).map(({ step }) => step)).size;
  const sum = (count: (step: StepSum) => number): number => sums.reduce((all, each) => all + count(each), 0);
  // They are shown, too, and are no rows of a step.
  const idle = ledger.rows.filter(({ reached }) => !reached).length;
  return [
    plural(made, 'step'),
    plural(
      sum(({ rows }) => rows),
      'row',
    ),
    ...(idle === 0 ? [] : [`${plural(idle, 'row')} without a gradient`]),
    `${plural(
      sum(({ trained }) => trained),
      scoresOnly(ledger) ? 'score' : 'token',
    )} trained`,
  ].join(', ');
}

export interface RowsPrint extends TracePrint {
  /** So many rows; undefined: a few that are worth a look. */
  readonly most: number | undefined;
  /** All of long rows. */
  readonly full: boolean;
}

/** A few rows, the worst first; nothing where no row was seen. */
export function traceRowLines(
  ledger: Ledger,
  results: readonly PropertyResult[],
  { most, full, width, paint }: RowsPrint,
): string[] {
  // A score is of no token of its row.
  if (scoresOnly(ledger)) return [];
  const all = rowsToShow(ledger, results);
  const shown = most === undefined ? all.filter(({ first }) => first).slice(0, FEW_ROWS) : all.slice(0, most);
  if (shown.length === 0) return [];
  const several = hasSeveralRanks(ledger);
  const left = all.length - shown.length;
  return [
    ...shown.flatMap((row) => ['', ...rowLines(row, ledger, several, { full, width, paint })]),
    '',
    ...wrap(LEGEND, width).map(paint.dim),
    ...(left > 0 ? [paint.dim(`${plural(left, 'more row')} (--rows N shows them, --html FILE a page)`)] : []),
  ];
}

// --- helpers ---

const INDENT = '  ';
const GAP = '  ';
/** One or two that are wrong, and one beside them that is not. */
const FEW_ROWS = 3;
/** More steps are a table of a page. */
const MOST_STEPS = 8;
/** Under the steps, once: whatever clips has been at work before. */
const AS_GOT = 'norms are of what the optimiser got: after clipping, where the script clips';
const LEGEND =
  'target: what the gradient pushes up there; weight: by how much, -dL/dlogprob; expected: whether it should be trained, as far as anybody knows.';

function rowLines(
  shown: ShownRow,
  ledger: Ledger,
  several: boolean,
  { full, width, paint }: TracePrint & { readonly full: boolean },
): string[] {
  const { row, marks } = shown;
  const whole = stripOfRow(shown, ledger.tokenizer);
  const strip = withoutPadding(whole, row);
  const cut = whole.tokens.length - strip.tokens.length;
  const facts = [
    `${plural(realCount(row), 'token')}, ${trainedCount(row).toLocaleString('en')} trained`,
    ...(cut > 0 ? [`${plural(cut, 'pad')} after them`] : []),
    ...(row.reached ? [] : ['no gradient came back']),
    originOf(row),
  ];
  const most = full ? Number.POSITIVE_INFINITY : undefined;
  const look = marks.length > 0 ? marks : edgesOf(row);
  const name = placeOf(row, several);
  return [
    ...wrap(harmless(`${name}  ${facts.join(' · ')}`), width).map((line, at) =>
      at === 0 ? paint.bold(name) + paint.dim(line.slice(name.length)) : paint.dim(line),
    ),
    ...stripLines(strip, width, paint, most, look),
  ];
}

/** Without the pads at its end of which there is nothing to say. */
function withoutPadding(strip: Strip, { trained }: LedgerRow): Strip {
  let to = strip.tokens.length;
  while (
    to > 1 &&
    strip.tokens[to - 1]?.role === 'padding' &&
    trained[to - 1] === undefined &&
    !strip.marks.includes(to - 1)
  )
    to--;
  return { ...strip, tokens: strip.tokens.slice(0, to) };
}

function modelFact(model: LedgerModel, several: boolean, { processes }: Ledger): readonly [string, string] {
  const { role, name } = model;
  // Under Ray every process has a name; ranks without a model of their own are none.
  const own = processes.filter((each) => each.rank === model.rank && typeof each.name === 'string');
  const within = own.find((each) => each.name !== 'driver') ?? own[0];
  const facts = [
    `${model.class}${name === '' ? '' : ` (${name})`}`,
    plural(model.parameters, 'parameter'),
    model.dtype,
    isScorer(model)
      ? `predicts no token${model.head === null ? '' : ` (head ${model.head})`}`
      : `vocabulary ${model.vocab_size.toLocaleString('en')}`,
    ...(model.positions === 'unknown' ? [] : [`${model.positions} positions`]),
    role === 'policy' ? 'trained' : 'frozen',
    ...(within === undefined ? [] : [`in ${within.name} (pid ${within.pid})`]),
  ];
  return [`model ${model.model}${several ? `, rank ${model.rank}` : ''}`, facts.join(', ')];
}

function stepFact(sum: StepSum, several: boolean, scores: boolean): readonly [string, string] {
  const { step, rank, forwards, rows, tokens, trained, unknown, weight, shard, done } = sum;
  const batches = forwards > 1 ? ` in ${plural(forwards, 'micro-batch', 'micro-batches')}` : '';
  const facts = [
    scores
      ? `${plural(rows, 'row')}${batches}, ${plural(trained, 'score')} with a gradient`
      : `${plural(rows, 'row')}${batches}, ${trained.toLocaleString('en')} of ${plural(tokens, 'token')} trained`,
    ...(scores || unknown === 0
      ? []
      : [`what ${unknown.toLocaleString('en')} of them are trained toward is not known`]),
    ...(scores || weight === undefined ? [] : [`weights sum to ${weightText(weight)}`]),
    ...(done === undefined
      ? ['no step was made']
      : [
          ...(done.gradientNorm === null
            ? []
            : [`gradient norm ${weightText(done.gradientNorm)}${shardWords(shard)}`]),
          ...(done.changed ? [] : ['no parameter changed']),
        ]),
  ];
  return [`step ${step}${several ? `, rank ${rank}` : ''}`, facts.join(' · ')];
}

/** Of the process that spent most; below a tenth of a second nobody asks. */
function overhead({ processes }: Ledger): string[] {
  const most = Math.max(0, ...processes.map(({ end }) => end?.tracer_seconds ?? 0));
  const of = processes.find(({ end }) => end?.tracer_seconds === most)?.end;
  if (of === undefined || most < 0.1) return [];
  return [`${most.toFixed(1)} of ${of.seconds.toFixed(1)} s spent looking`];
}

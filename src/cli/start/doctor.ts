// `doctor`: does the adapter speak the protocol? Says hello, tries each declared op once, explains each complaint.
// It does not judge the trainer: that takes more than one case and is `check`.
import type { Command } from 'commander';
import fc from 'fast-check';
import { many } from '../../check/numbers.ts';
import type { Property, World } from '../../check/property.ts';
import { worldOf } from '../../check/run.ts';
import { type CaseOutcome, runCase } from '../../check/subject.ts';
import { supportOf } from '../../check/support.ts';
import { OP_CAPABILITIES } from '../../protocol/hello.ts';
import { type Hello, OPS, type Op } from '../../protocol/message.ts';
import { troubleLines } from '../../report/failure/trouble.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { pad, widthOf, wrap } from '../../report/text/visible.ts';
import type { Trainer } from '../../trainer/trainer.ts';
import type { Layout } from '../../vocabulary.ts';
import { layoutHint } from '../check/layout-hint.ts';
import { makePlan, type TrainerOptions } from '../check/plan.ts';
import { type Context, isProblem, refuse, say } from '../context.ts';
import { FAILED, HOLDS, INTERRUPTED, NO_VERDICT } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import { addTrainerOptions, type Invocation } from '../options.ts';
import { widthOfScreen } from '../screen.ts';
import { sayBundled, withSession } from '../trainer/session.ts';
import { reachLines } from './reach-lines.ts';

export function addDoctor(program: Command, { context, rest, finish }: Invocation): void {
  const command = program
    .command('doctor')
    .summary('call each op of an adapter once, and explain complaints')
    .description('start an adapter, call each of its ops once, and explain every complaint')
    .usage('[options] [-- trainer command...]');
  addTrainerOptions(tell(command, WORDS)).action(async (options: TrainerOptions) =>
    finish(await doctor(options, rest, context)),
  );
}

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof doctor -- python adapter.py' },
    { command: 'npx lossproof doctor --adapter trl-sft' },
  ],
  exit: { 0: 'every op answers', 1: 'one does not', 2: 'the trainer did not start', 130: 'interrupted' },
};

async function doctor(options: TrainerOptions, rest: readonly string[], context: Context): Promise<number> {
  const plan = await makePlan(options, rest, context);
  if (isProblem(plan)) return refuse(context, plan);
  const properties = await context.properties();
  sayBundled(plan, context);
  return withSession(plan, context, async ({ trainer, tokenizer, semantics, interrupts }) => {
    const world = worldOf(trainer, tokenizer, semantics);
    say(context, ...helloLines(world, widthOfScreen(context)), '');
    const declared = OP_NAMES.filter((op) => trainer.hello.ops[op] !== undefined);
    let bad = 0;
    let tried = 0;
    for (const op of declared) {
      if (interrupts.signal.aborted) break;
      const trial = await tryOp(op, properties, trainer, world);
      if (interrupts.signal.aborted) break;
      if (trial.verdict === 'bad') bad++;
      if (trial.verdict !== 'untried') tried++;
      say(context, ...trialLines(op, trial, context));
    }
    say(context, '', `${many(declared.length, 'op')} declared, ${tried} tried, ${bad} with a complaint.`);
    if (interrupts.signal.aborted) return INTERRUPTED;
    const more = reachLines(properties, world, widthOfScreen(context));
    if (more.length > 0) say(context, '', ...more);
    return bad > 0 ? FAILED : tried > 0 ? HOLDS : NO_VERDICT;
  });
}

const OP_NAMES = Object.keys(OPS) as Op[];
const OP_WIDTH = Math.max(...OP_NAMES.map((op) => op.length));
const INDENT = '    ';
/** A case may be refused for its own reasons; so many refused in a row are a complaint. */
const ATTEMPTS = 10;
/** Any fixed number: the same doctor says the same twice. */
const SEED = 1;

interface Trial {
  readonly verdict: 'good' | 'bad' | 'untried';
  readonly lines: readonly string[];
  readonly outcome?: CaseOutcome;
}

/** One answered case by the simplest supported property that asks this op; its own ops first, so that others' complaints stay theirs. */
async function tryOp(
  op: Op,
  properties: readonly Property[],
  trainer: Trainer,
  world: World,
): Promise<Trial> {
  const asking = properties
    .filter((property) => property.ops.includes(op))
    .sort((a, b) => a.ops.length - b.ops.length);
  const property = asking.find((each) => supportOf(each, world) === undefined);
  if (property === undefined) {
    const lack = asking[0] === undefined ? 'no property asks for it' : supportOf(asking[0], world);
    return { verdict: 'untried', lines: [lack ?? ''] };
  }
  let outcome: CaseOutcome | undefined;
  for (const given of fc.sample(property.given(world), { seed: SEED, numRuns: ATTEMPTS })) {
    outcome = await runCase(property, trainer, world, given);
    if (outcome.kind !== 'refused') break;
  }
  if (outcome?.kind === 'stopped') return { verdict: 'untried', lines: [] };
  switch (outcome?.kind) {
    case 'holds':
      return { verdict: 'good', lines: [await hintOf(op, trainer, world)] };
    case 'fails':
      // The answer was understood; that it is wrong is for check to show.
      return {
        verdict: 'good',
        lines: [
          await hintOf(
            op,
            trainer,
            world,
            `answers, but ${property.id} fails on it: ${outcome.finding.sentence}`,
          ),
        ],
      };
    case 'error':
      return { verdict: 'bad', lines: [], outcome };
    default:
      return {
        verdict: 'bad',
        lines: [
          `${outcome?.setAside ? 'answered, but nothing could be judged in' : 'refused'} ${ATTEMPTS} cases out of ${ATTEMPTS}: ${outcome?.why ?? 'no case was generated'}`,
          outcome?.setAside ? 'Compare the answer with the example of the op in PROTOCOL.md.' : narrowing(op),
        ],
      };
  }
}

/** What an adapter can do that refuses everything: only capabilities that the op has are named. */
function narrowing(op: Op): string {
  // What it computes in narrows nothing.
  const names = OP_CAPABILITIES[op].filter((name) => name !== 'dtype');
  const narrow =
    names.length === 0
      ? 'The op has no capability that would narrow what is sent.'
      : `Narrow what is sent by what the op declares (of its capabilities: ${names.join(', ')}).`;
  return `${narrow} Where ids are the reason, declare \`tokens\`; else answer these cases, or take the op out.`;
}

/** What to say of an op that answers. A wrong layout comes first: nothing else that is said of the op means anything then. */
async function hintOf(op: Op, trainer: Trainer, world: World, otherwise = 'answers'): Promise<string> {
  return (op === 'mask' ? await layoutHint(trainer, world) : undefined) ?? otherwise;
}

function trialLines(op: Op, trial: Trial, context: Context): string[] {
  const paint = choosePaint(context.out.isTty, context.env);
  const width = widthOfScreen(context) - INDENT.length;
  const glyph = { good: paint.blue('✓'), bad: paint.orange('✗'), untried: paint.dim('–') }[trial.verdict];
  const untried = trial.verdict === 'untried' ? 'not tried: ' : '';
  const lines =
    trial.outcome?.kind === 'error'
      ? troubleLines(trial.outcome.failure, { width, paint })
      : trial.lines.flatMap((line) => wrap(untried + line, width));
  const [first = ''] = lines;
  // In the column of the table only what fits there; a complaint stands whole below its op.
  const isShort = lines.length === 1 && widthOf(first) <= width - OP_WIDTH;
  if (isShort) return [`${glyph} ${pad(op, OP_WIDTH)}  ${first}`];
  return [`${glyph} ${op}`, ...lines.map((line) => (line === '' ? '' : INDENT + line))];
}

function helloLines({ hello, semantics, tokenizer }: World, width: number): string[] {
  const { tokens } = hello;
  const declared = Object.entries(semantics).map(([key, value]) => `${key} ${JSON.stringify(value)}`);
  const facts: readonly (readonly [string, string])[] = [
    [
      'hello',
      [hello.name, hello.version, runtimeOf(hello), `protocol ${hello.protocol}`].filter(Boolean).join(' '),
    ],
    [
      'layout',
      hello.layout === undefined
        ? 'not declared: token-aligned, over the whole row'
        : layoutText(hello.layout),
    ],
    ...OP_NAMES.flatMap((op) => {
      const layout = hello.ops[op]?.layout;
      return layout === undefined ? [] : [['', `of ${op}: ${layoutText(layout)}`] as const];
    }),
    ['dtype', hello.dtype ?? 'not declared: checked with the tolerances of float32'],
    [
      'semantics',
      declared.length === 0 ? 'not declared: every legal variant is accepted' : declared.join(', '),
    ],
    [
      'tokens',
      tokens === undefined
        ? 'not declared: the harness chooses special ids'
        : `vocabulary ${tokens.vocab_size}, pad ${tokens.pad_token_id}, eos ${tokens.eos_token_ids.join(' ')}`,
    ],
    [
      'tokenizer',
      tokenizer === undefined
        ? 'none: what needs text is unsupported'
        : `${tokenizer.name}, ${tokenizer.vocabSize} tokens, ${tokenizer.chatTemplate === undefined ? 'no' : 'with a'} chat template`,
    ],
  ];
  return facts.flatMap(([label, text]) =>
    wrap(text, width - OP_WIDTH).map((line, at) => pad(at === 0 ? label : '', OP_WIDTH) + line),
  );
}

const layoutText = ({ alignment, span }: Layout): string => `${alignment}-aligned, over the ${span}`;

function runtimeOf(hello: Hello): string | undefined {
  return hello.runtime === undefined ? undefined : `(${hello.runtime})`;
}

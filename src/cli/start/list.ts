// `list`: the properties, and for a named trainer which of them it can be checked for.
import type { Command } from 'commander';
import type { PropertyFacts } from '../../check/events.ts';
import type { Property, World } from '../../check/property.ts';
import { worldOf } from '../../check/run.ts';
import { supportOf } from '../../check/support.ts';
import type { MonitorRule } from '../../monitor/rule.ts';
import { ruleFacts } from '../../report/monitor/rule.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { pad, widthOf, wrap } from '../../report/text/visible.ts';
import { LOOKS } from '../../report/verdict.ts';
import { makePlan, type Plan, type TrainerOptions } from '../check/plan.ts';
import { selectProperties, splitNames } from '../check/select.ts';
import { isSeveral } from '../check/several.ts';
import { type Context, isProblem, refuse, say } from '../context.ts';
import { HOLDS } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import { addTrainerOptions, collect, type Invocation } from '../options.ts';
import { widthOfScreen } from '../screen.ts';
import { sayBundled, withSession } from '../trainer/session.ts';

interface ListOptions extends TrainerOptions {
  readonly only?: readonly string[];
  readonly full?: boolean;
}

export function addList(program: Command, { context, rest, finish }: Invocation): void {
  const command = program
    .command('list')
    .summary('list the properties, and which apply to a trainer')
    .description('list the properties, and which of them apply to a trainer')
    .usage('[options] [-- trainer command...]')
    .option('--only <ids>', 'properties by id, stage or glob, separated by commas; repeatable', collect)
    .option('--full', 'also print why each matters, and the settings and presets of the rules of `monitor`');
  addTrainerOptions(tell(command, WORDS)).action(async (options: ListOptions) =>
    finish(await list(options, rest, context)),
  );
}

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof list' },
    { command: 'npx lossproof list --only mask' },
    { command: 'npx lossproof list --only monitor --full' },
    { command: 'npx lossproof list -- python adapter.py' },
  ],
};

async function list(options: ListOptions, rest: readonly string[], context: Context): Promise<number> {
  const properties = selectProperties(await everyProperty(context), splitNames(options.only ?? []), 'may');
  if (isProblem(properties)) return refuse(context, properties);
  // The properties can be shown without a trainer.
  const plan = await makePlan(options, rest, context, 'bundled');
  const nobody = isProblem(plan)
    ? isSeveral(plan) && options.trainer === undefined
    : isExample(plan, options);
  if (nobody) {
    const full = options.full === true;
    say(context, ...tableLines(properties, undefined, full, context));
    if (full && properties.some(({ rule }) => rule !== undefined))
      say(context, '', ...(await presetLines(context)));
    return HOLDS;
  }
  if (isProblem(plan)) return refuse(context, plan);
  sayBundled(plan, context);
  return withSession(plan, context, async ({ trainer, tokenizer, semantics }) => {
    say(
      context,
      ...tableLines(properties, worldOf(trainer, tokenizer, semantics), options.full === true, context),
    );
    return HOLDS;
  });
}

/** Nobody named it. */
function isExample({ choice }: Plan, { bundled }: ListOptions): boolean {
  return choice.from === 'bundled' && bundled !== true;
}

/** A property, and who can check it: an adapter's answers, a traced script, or both; or the logs of a run. */
interface Listed extends PropertyFacts {
  /** Absent: only `trace`, or `monitor`, sees it. */
  readonly property?: Property;
  readonly traced: boolean;
  /** Of `monitor`. */
  readonly rule?: MonitorRule;
}

async function everyProperty(context: Context): Promise<readonly Listed[]> {
  const { ledgerProperties } = await import('../../../properties/ledger/index.ts');
  const { monitorRules } = await import('../../../properties/monitor/index.ts');
  const traced = new Set(ledgerProperties.map(({ id }) => id));
  const asked = await context.properties();
  const own = new Set(asked.map(({ id }) => id));
  return [
    ...asked.map((property) => ({ ...property, property, traced: traced.has(property.id) })),
    ...ledgerProperties.filter(({ id }) => !own.has(id)).map((facts) => ({ ...facts, traced: true })),
    ...monitorRules.map((rule) => ({ ...rule, rule, traced: false })),
  ];
}

const TRACE_MARK = 'trace';
const TRACE_ONLY = 'what a script really trained, which only `npx lossproof trace -- COMMAND` sees';

const MONITOR_MARK = 'monitor';
const MONITOR_ONLY = 'what a run logs, which `npx lossproof monitor PATH` reads';

const LEVEL_WIDTH = 'should'.length;
const TITLE_INDENT = '    ';

/**
 * Two lines per property: id, level and whether a trace is checked for it, then the rule; with a trainer, whether it can
 * be checked.
 */
function tableLines(
  properties: readonly Listed[],
  world: World | undefined,
  full: boolean,
  context: Context,
): string[] {
  const paint = choosePaint(context.out.isTty, context.env);
  const width = widthOfScreen(context) - TITLE_INDENT.length;
  const idWidth = Math.max(...properties.map(({ id }) => widthOf(id)));
  let supported = 0;
  const lines = properties.flatMap((property) => {
    const lack = world === undefined ? undefined : lackOf(property, world);
    if (lack === undefined) supported++;
    const glyph = world === undefined ? '' : lack === undefined ? '✓ ' : `${LOOKS.unsupported.glyph} `;
    const mark = property.traced ? `  ${TRACE_MARK}` : property.rule === undefined ? '' : `  ${MONITOR_MARK}`;
    const head = `${glyph}${pad(property.id, idWidth)}  ${pad(property.level, LEVEL_WIDTH)}${mark}`.trimEnd();
    return [
      lack === undefined ? paint.bold(head) : paint.dim(head),
      ...wrap(property.title, width).map((line) => TITLE_INDENT + line),
      ...(full ? fullLines(property, width).map((line) => paint.dim(TITLE_INDENT + line)) : []),
      ...(lack === undefined
        ? []
        : wrap(`unsupported: ${lack}`, width).map((line) => paint.dim(TITLE_INDENT + line))),
    ];
  });
  const counted =
    world === undefined
      ? `${properties.length} properties; those marked ${TRACE_MARK} are checked on traced scripts, those marked ${MONITOR_MARK} on the logs of a run`
      : `${world.hello.name} can be checked for ${supported} of ${properties.length} properties`;
  return [...lines, '', counted];
}

function lackOf({ property, rule }: Listed, world: World): string | undefined {
  if (property !== undefined) return supportOf(property, world);
  return rule === undefined ? TRACE_ONLY : MONITOR_ONLY;
}

/** Why it matters; of a rule, what it asks for and how it is set. */
function fullLines({ why, rule }: Listed, width: number): string[] {
  return [...wrap(why, width), ...(rule === undefined ? [] : ruleFacts(rule, width))];
}

async function presetLines(context: Context): Promise<string[]> {
  const { PRESETS } = await import('../../monitor/presets.ts');
  const width = widthOfScreen(context) - TITLE_INDENT.length;
  return [
    'Presets, for `monitor --preset`:',
    ...PRESETS.flatMap(({ name, title, origin }) => [
      name,
      ...wrap(`${title}. ${origin}`, width).map((line) => TITLE_INDENT + line),
    ]),
  ];
}

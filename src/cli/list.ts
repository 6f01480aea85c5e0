// `list`: the properties, and for a named trainer which of them it can be checked for.
import type { Command } from 'commander';
import type { Property, World } from '../check/property.ts';
import { worldOf } from '../check/run.ts';
import { supportOf } from '../check/support.ts';
import { choosePaint } from '../report/paint.ts';
import { LOOKS } from '../report/verdict.ts';
import { pad, widthOf, wrap } from '../report/visible.ts';
import { type Context, isProblem, refuse, say } from './context.ts';
import { HOLDS } from './exit.ts';
import { addTrainerOptions, collect, type Invocation } from './options.ts';
import { makePlan, type TrainerOptions } from './plan.ts';
import { selectProperties, splitNames } from './select.ts';
import { widthOfScreen, withSession } from './session.ts';

interface ListOptions extends TrainerOptions {
  readonly only?: readonly string[];
}

export function addList(program: Command, { context, rest, finish }: Invocation): void {
  const command = program
    .command('list')
    .description('show the properties, and which of them a trainer can be checked for')
    .usage('[options] [-- trainer command...]')
    .option('--only <ids>', 'properties by id, stage or glob, separated by commas; repeatable', collect);
  addTrainerOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (options: ListOptions) => finish(await list(options, rest, context)));
}

const EXAMPLES = `
Examples:
  npx trainproof list
  npx trainproof list --only mask
  npx trainproof list -- python adapter.py`;

async function list(options: ListOptions, rest: readonly string[], context: Context): Promise<number> {
  const properties = selectProperties(await context.properties(), splitNames(options.only ?? []), 'may');
  if (isProblem(properties)) return refuse(context, properties);
  const plan = await makePlan(options, rest, context);
  if (isProblem(plan)) return refuse(context, plan);
  if (plan.choice.from === 'bundled') {
    say(context, ...tableLines(properties, undefined, context));
    return HOLDS;
  }
  return withSession(plan, context, async ({ trainer, tokenizer, semantics }) => {
    say(context, ...tableLines(properties, worldOf(trainer, tokenizer, semantics), context));
    return HOLDS;
  });
}

const LEVEL_WIDTH = 'should'.length;
const TITLE_INDENT = '    ';

/** Two lines a property: id and level, then the rule; with a trainer, whether it can be checked. */
function tableLines(properties: readonly Property[], world: World | undefined, context: Context): string[] {
  const paint = choosePaint(context.out.isTty, context.env);
  const width = widthOfScreen(context) - TITLE_INDENT.length;
  const idWidth = Math.max(...properties.map(({ id }) => widthOf(id)));
  let supported = 0;
  const lines = properties.flatMap((property) => {
    const lack = world === undefined ? undefined : supportOf(property, world);
    if (lack === undefined) supported++;
    const glyph = world === undefined ? '' : lack === undefined ? '✓ ' : `${LOOKS.unsupported.glyph} `;
    const head = `${glyph}${pad(property.id, idWidth)}  ${pad(property.level, LEVEL_WIDTH)}`.trimEnd();
    return [
      lack === undefined ? paint.bold(head) : paint.dim(head),
      ...wrap(property.title, width).map((line) => TITLE_INDENT + line),
      ...(lack === undefined
        ? []
        : wrap(`unsupported: ${lack}`, width).map((line) => paint.dim(TITLE_INDENT + line))),
    ];
  });
  const counted =
    world === undefined
      ? `${properties.length} properties`
      : `${world.hello.name} can be checked for ${supported} of ${properties.length} properties`;
  return [...lines, '', counted];
}

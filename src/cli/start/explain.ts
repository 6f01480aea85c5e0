// `explain`: the page behind a failure. What a property holds, why, what it asks of the trainer, where it does not
// judge, which bugs of real trainers it is made for and what is done about them; or the same of one bug, or of a choice that
// a run asks about.
import type { Command } from 'commander';
import { bugs } from '../../bugs/index.ts';
import type { PropertyFacts } from '../../check/events.ts';
import type { Property } from '../../check/property.ts';
import type { MonitorRule } from '../../monitor/rule.ts';
import { nearestName } from '../../protocol/nearest.ts';
import {
  BUG_IDS,
  type BugExplanation,
  CHOICE_NAMES,
  type ChoiceExplanation,
  explainBug,
  explainChoice,
  explainMonitored,
  explainProperty,
  explainTraced,
  type PropertyExplanation,
} from '../../report/failure/explanation.ts';
import { bugLines, choiceLines, type Print, propertyLines } from '../../report/failure/explanation-lines.ts';
import { choosePaint } from '../../report/text/paint.ts';
import { selectProperties, splitNames } from '../check/select.ts';
import { type Context, isProblem, type Problem, refuse, say, sayDocument } from '../context.ts';
import { HOLDS } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import type { Invocation } from '../options.ts';
import { widthOfScreen } from '../screen.ts';

export function addExplain(program: Command, { context, finish }: Invocation): void {
  tell(program.command('explain'), WORDS)
    .summary('explain a property, a bug or a choice, and what to do')
    .description('explain a property, a bug or a choice: why it matters, where it was seen, what to do')
    .usage('[options] <id...>')
    .argument('<id...>', 'properties by id, stage or glob; bugs by id, as MSK-01; choices, as clip_low')
    .option('--json', 'print a JSON list')
    .action(async (ids: readonly string[], options: { readonly json?: boolean }) =>
      finish(await explain(ids, options.json === true, context)),
    );
}

const WORDS: Words = {
  examples: [
    { command: 'npx lossproof explain mask/prompt-is-never-trained' },
    { command: "npx lossproof explain 'kl/*'" },
    { command: 'npx lossproof explain MSK-01' },
    { command: 'npx lossproof explain loss/clip_low' },
  ],
};

type Page =
  | ({ readonly kind: 'property' } & PropertyExplanation)
  | ({ readonly kind: 'bug' } & BugExplanation)
  | ({ readonly kind: 'choice' } & ChoiceExplanation);

async function explain(ids: readonly string[], json: boolean, context: Context): Promise<number> {
  const properties = await context.properties();
  const { ledgerProperties } = await import('../../../properties/ledger/index.ts');
  // The others have the id, and the words, of a property of the catalogue.
  const traced = ledgerProperties.filter(({ stage }) => stage === 'trace');
  const { monitorRules } = await import('../../../properties/monitor/index.ts');
  const pages: Page[] = [];
  for (const id of splitNames(ids)) {
    const found = pagesOf(id, properties, [...traced, ...monitorRules]);
    if (isProblem(found)) return refuse(context, found);
    pages.push(...found);
  }
  if (json) {
    sayDocument(context, JSON.stringify(pages, null, 2));
    return HOLDS;
  }
  const print = { width: widthOfScreen(context), paint: choosePaint(context.out.isTty, context.env) };
  for (const [at, page] of pages.entries())
    say(context, ...(at === 0 ? [] : ['', '']), ...linesOf(page, print));
  return HOLDS;
}

function linesOf(page: Page, print: Print): string[] {
  if (page.kind === 'bug') return bugLines(page, print);
  return page.kind === 'choice' ? choiceLines(page, print) : propertyLines(page, print);
}

function pagesOf(
  name: string,
  properties: readonly Property[],
  beside: readonly (PropertyFacts | MonitorRule)[],
): readonly Page[] | Problem {
  if (BUG_NAME.test(name)) {
    const known = bugs.filter(({ id }) => id === name.toUpperCase());
    if (known.length > 0)
      return known.map((bug) => ({ kind: 'bug', ...explainBug(bug, properties) }) as const);
    const near = nearestName(name.toUpperCase(), BUG_IDS);
    const hint = near === undefined ? 'docs/bugs.md lists them' : `did you mean "${near}"?`;
    return { problem: `no bug is called "${name}", ${hint}` };
  }
  const choice = explainChoice(name);
  if (choice !== undefined) return [{ kind: 'choice', ...choice }];
  // Rules that only a traced script or a run's logs are held to stand beside the catalogue.
  const known = selectProperties(properties, [name], 'may');
  const others = isProblem(known) ? selectProperties(beside, [name], 'may') : known;
  const chosen: readonly (Property | PropertyFacts | MonitorRule)[] | Problem = isProblem(others)
    ? selectProperties<Property | PropertyFacts | MonitorRule>([...properties, ...beside], [name], 'may')
    : others;
  if (isProblem(chosen)) return nearestChoice(name) ?? chosen;
  return chosen.map((property) => {
    const page =
      'given' in property
        ? explainProperty(property, properties)
        : 'watch' in property
          ? explainMonitored(property, properties)
          : explainTraced(property, properties);
    return { kind: 'property', ...page } as const;
  });
}

/** Choices have underscores, and properties have none. */
function nearestChoice(name: string): Problem | undefined {
  const near = name.includes('_')
    ? nearestName(name.slice(name.lastIndexOf('/') + 1), CHOICE_NAMES)
    : undefined;
  return near === undefined
    ? undefined
    : { problem: `no choice is called "${name}", did you mean "${near}"?` };
}

/** No stage is called so. */
const BUG_NAME = /^[a-z]+-\d+$/i;

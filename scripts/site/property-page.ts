// The page of a property, as Markdown: what it holds, why it matters, which bugs of real trainers it is made for and what
// is done about them, when it does not judge, which wrong trainers show those bugs. Made of the data alone; the same for the
// properties of traced scripts and the rules about logs.

import { properties } from '../../properties/index.ts';
import { ledgerProperties } from '../../properties/ledger/index.ts';
import { monitorRules } from '../../properties/monitor/index.ts';
import {
  type BugExplanation,
  explainMonitored,
  explainProperty,
  explainTraced,
  type PropertyExplanation,
} from '../../src/report/failure/explanation.ts';
import { listMutants } from '../../test/mutants/list.ts';
import type { Mutant } from '../../test/mutants/mutant.ts';
import { threadLink } from '../docs/bug-page.ts';

/** Path within the repository, if it were a file of it. */
export function propertyFile(id: string): string {
  return `docs/properties/${id}.md`;
}

/** Of every property that has a page: of trainers, then those that only a trace or a log can show. */
export function explained(): readonly PropertyExplanation[] {
  const asked = new Set(properties.map(({ id }) => id));
  return [
    ...properties.map((property) => explainProperty(property, properties)),
    ...ledgerProperties.filter(({ id }) => !asked.has(id)).map((each) => explainTraced(each, properties)),
    ...monitorRules.map((rule) => explainMonitored(rule, properties)),
  ];
}

/** Path to text. */
export function propertyPages(): ReadonlyMap<string, string> {
  const all = explained();
  const mutants = listMutants();
  return new Map(all.map((each) => [propertyFile(each.id), propertyPage(each, all, mutants)]));
}

/** Addresses are relative to `propertyFile(id)`. */
function propertyPage(
  property: PropertyExplanation,
  all: readonly PropertyExplanation[],
  mutants: readonly Mutant[],
): string {
  const { id, title, level, why, ops, coverage, exceptions, bugs, command, advice, asks } = property;
  const rows = bugs.map((bug) => bug.id);
  const shown = mutants.filter(
    (mutant) => mutant.rows.some((row) => rows.includes(row)) && mutant.ops.some((op) => ops.includes(op)),
  );
  return [
    `# ${id}`,
    `**${title}.**`,
    `Level \`${level}\` · ${placeOf(property)}`,
    '## Why it matters',
    why,
    ...section('## What to do', advice === undefined ? [] : [advice]),
    ...section('## Bugs of real trainers', bugs.map(bugSection)),
    ...section(
      '## What it reads',
      (asks ?? []).map((line) => `- ${line}`),
      '\n',
    ),
    ...section(
      '## What its cases must try',
      Object.entries(coverage).map(
        ([label, share]) => `- at least ${Math.round(share * 100)} % of those judged: ${label}`,
      ),
      '\n',
    ),
    ...section(
      '## When it does not judge',
      exceptions.map((each) => `- ${each}`),
      '\n',
    ),
    '## Run it alone',
    `\`\`\`\n${command}\nnpx lossproof explain ${id}\n\`\`\``,
    ...section(
      '## Wrong trainers to try it on',
      shown.length === 0
        ? []
        : [
            'Correct trainers with one of these mistakes, in an op that this property asks for. `python3 -m mutants ID` serves one in the repository (`src/python` and `test` in PYTHONPATH).',
            shown.map((mutant) => `- \`${mutant.id}\`: ${mutant.title}`).join('\n'),
          ],
    ),
    ...neighbours(property, all),
  ].join('\n\n');
}

function placeOf({ stage, ops, asks }: PropertyExplanation): string {
  if (asks !== undefined)
    return 'a rule about [logs](../../properties.md#logs), for [`monitor`](../../monitor.md)';
  if (ops.length === 0)
    return `stage ${stage} · of [traced scripts](../../properties.md#traced-scripts) alone, for [\`trace\`](../../trace.md)`;
  const calls = ops.map((op) => `[\`${op}\`](../../ops/${op}.md)`).join(', ');
  return `stage [${stage}](../../properties.md#${stage}) · asks the trainer for ${calls}`;
}

function bugSection({ id, what, todo, seen }: BugExplanation): string {
  const threads = seen.map(({ thread }) => threadLink(thread)).join(', ');
  return [
    `### ${id}`,
    what,
    `**What to do.** ${todo}`,
    ...(threads === '' ? [] : [`Seen in ${threads}.`]),
  ].join('\n\n');
}

function neighbours(property: PropertyExplanation, all: readonly PropertyExplanation[]): string[] {
  const own = all.filter(
    ({ stage, ops, asks }) =>
      stage === property.stage &&
      ops.length > 0 === property.ops.length > 0 &&
      (asks === undefined) === (property.asks === undefined),
  );
  const at = own.indexOf(property);
  const links = [['before', own[at - 1]] as const, ['next', own[at + 1]] as const].flatMap(([word, other]) =>
    other === undefined ? [] : [`${word}: \`${other.id}\``],
  );
  return links.length === 0 ? [] : ['---', links.join(' · ')];
}

function section(heading: string, lines: readonly string[], between = '\n\n'): string[] {
  return lines.length === 0 ? [] : [heading, lines.join(between)];
}

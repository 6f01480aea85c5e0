// The page of a property, as Markdown: what it holds, why it matters, which bugs of real trainers it is made for and what
// is done about them, when it does not judge, which wrong trainers show those bugs. Made of the data alone.
import type { Property } from '../../src/check/property.ts';
import { type BugExplanation, explainProperty } from '../../src/report/failure/explanation.ts';
import type { Mutant } from '../../test/mutants/mutant.ts';
import { threadLink } from '../docs/bug-page.ts';

/** Path within the repository, if it were a file of it. */
export function propertyFile(id: string): string {
  return `docs/properties/${id}.md`;
}

/** Addresses are relative to `propertyFile(property.id)`. */
export function propertyPage(
  property: Property,
  properties: readonly Property[],
  mutants: readonly Mutant[],
): string {
  const { id, title, level, stage, why, ops, coverage, exceptions, bugs, command } = explainProperty(
    property,
    properties,
  );
  const shown = mutants.filter(
    (mutant) =>
      mutant.rows.some((row) => property.catches.includes(row)) && mutant.ops.some((op) => ops.includes(op)),
  );
  const calls = ops.map((op) => `[\`${op}\`](../../../PROTOCOL.md#${op})`).join(', ');
  return [
    `# ${id}`,
    `**${title}.**`,
    `Level \`${level}\` · stage [${stage}](../../properties.md#${stage}) · asks the trainer for ${calls}`,
    '## Why it matters',
    why,
    ...section('## Bugs of real trainers', bugs.map(bugSection)),
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
    ...neighbours(property, properties),
  ].join('\n\n');
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

function neighbours(property: Property, properties: readonly Property[]): string[] {
  const own = properties.filter(({ stage }) => stage === property.stage);
  const at = own.indexOf(property);
  const links = [['before', own[at - 1]] as const, ['next', own[at + 1]] as const].flatMap(([word, other]) =>
    other === undefined ? [] : [`${word}: \`${other.id}\``],
  );
  return links.length === 0 ? [] : ['---', links.join(' · ')];
}

function section(heading: string, lines: readonly string[], between = '\n\n'): string[] {
  return lines.length === 0 ? [] : [heading, lines.join(between)];
}

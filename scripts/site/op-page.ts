// The page of an op, as Markdown: what it is given and answers, with shapes, an example, the function that one writes for
// it, what may be declared of it, and the properties that judge it. Made of the protocol's table and of PROTOCOL.md.
import type { Op } from '../../src/protocol/message.ts';
import { FAMILIES, familyNames } from '../../src/protocol/ops.ts';
import { type Field, type OpFacts, opFacts, opNames } from './op-facts.ts';

/** Paths within the repository, if they were files of it. */
export const OPS_FILE = 'docs/ops.md';
export function opFile(op: string): string {
  return `docs/ops/${op}.md`;
}

/** Addresses are relative to `opFile(op)`. */
export function opPage(op: Op): string {
  const facts = opFacts(op);
  const { family, prose, examples, args, ok, capabilities, semantics, properties } = facts;
  const at = opNames.indexOf(op);
  const neighbours = [['before', opNames[at - 1]] as const, ['next', opNames[at + 1]] as const].flatMap(
    ([word, other]) => (other === undefined ? [] : [`${word}: [\`${other}\`](${other}.md)`]),
  );
  return [
    `# ${op}`,
    `Op of the family [${family}](../ops.md#${family}) · judged by [${counted(properties.length)}](#properties-that-judge-it) · [in the protocol](../../PROTOCOL.md#${op})`,
    prose.replaceAll('](#', '](../../PROTOCOL.md#'),
    '## Given',
    'B rows, T columns, V vocabulary; `·` a length of its own in each row. [All kinds](../../PROTOCOL.md#kinds).',
    fieldTable(args),
    '## Answered',
    fieldTable(ok),
    '## In Python',
    'A function takes those arguments that it needs, by name, and returns the fields that the trainer has.',
    `\`\`\`python\n${signature(facts)}\n\`\`\``,
    ...(args.some(isArray)
      ? [
          'With `lossproof.serve(arrays="torch")` or `"numpy"`, what is rectangular comes as a tensor; see [the arguments](../attach.md#the-arguments).',
        ]
      : []),
    ...(examples.length === 0 ? [] : ['## For example', `\`\`\`json\n${examples.join('\n')}\n\`\`\``]),
    ...described(
      '## Capabilities',
      'Arguments of the decorator: what this op may be asked for besides.',
      capabilities,
    ),
    ...described(
      '## Semantics',
      'Legal choices that show in its answers: declared in `lossproof.serve(semantics={...})`, or measured.',
      semantics,
    ),
    '## Properties that judge it',
    properties.length === 0
      ? 'None by itself.'
      : [
          '| property | level | what holds |',
          '|---|---|---|',
          ...properties.map(({ id, level, title }) => `| \`${id}\` | ${level} | ${title}. |`),
        ].join('\n'),
    '---',
    neighbours.join(' · '),
  ].join('\n\n');
}

/** All ops, by family. */
export function opsPage(): string {
  const families = familyNames.map((family) => {
    const rows = Object.keys(FAMILIES[family]).map((op) => {
      const { args, ok, properties, prose } = opFacts(op as Op);
      const [first = ''] = prose.split(/(?<=\.)\s/);
      return `| [\`${op}\`](ops/${op}.md) | ${first.replaceAll('\n', ' ').replaceAll('](#', '](../PROTOCOL.md#')} | ${names(args)} | ${names(ok)} | ${properties.length} |`;
    });
    return `## ${family}\n\n| op | what it is | given | answers | properties |\n|---|---|---|---|---|\n${rows.join('\n')}`;
  });
  return [
    '# Ops',
    `What a trainer can be asked, ${opNames.length} questions in ${familyNames.length} families, in the order in which a conversation meets them. An adapter answers those that its trainer has; [which first](attach.md#which-op-first) says with what to begin, and [the protocol](../PROTOCOL.md) is normative.`,
    ...families,
  ].join('\n\n');
}

function names(fields: readonly Field[]): string {
  return fields.map(({ name, optional }) => `\`${name}${optional ? '?' : ''}\``).join(', ');
}

function fieldTable(fields: readonly Field[]): string {
  return [
    '| field | kind | what it is |',
    '|---|---|---|',
    ...fields.map(({ name, kind, shape, note, optional }) => {
      const said = [optional ? 'may be absent' : '', note.replaceAll('|', '\\|')].filter(
        (part) => part !== '',
      );
      return `| \`${name}\` | \`${kind}\`${shape === '' ? '' : ` ${shape}`} | ${said.join('; ')} |`;
    }),
  ].join('\n');
}

const PYTHON: Readonly<Record<string, string>> = {
  text: 'str',
  texts: 'list[str]',
  text_rows: 'list[list[str]]',
  flag: 'bool',
  int: 'int',
  float: 'float',
  ints: 'list[int]',
  floats: 'list[float]',
  int_rows: 'list[list[int]]',
  float_rows: 'list[list[float]]',
  int_matrix: 'list[list[int]]',
  float_matrix: 'list[list[float]]',
  float_cube: 'list[list[list[float]]]',
  int_track: 'list[list[int]]',
  float_track: 'list[list[float]]',
  messages: 'list[dict]',
  conversations: 'list[list[dict]]',
  segments: 'list[dict]',
  turns: 'list[dict]',
  counts: 'dict[str, int]',
  amounts: 'dict[str, float]',
  choices: 'dict[str, float | str]',
};

const isArray = ({ kind }: Field): boolean => /_(?:matrix|cube|track)$|^(?:ints|floats)$/.test(kind);

function signature({ op, args, ok }: OpFacts): string {
  // Those that may be absent have a default, and stand last.
  const sorted = [...args].sort((a, b) => Number(a.optional) - Number(b.optional));
  const parameters = sorted.map(({ name, kind, optional }) => {
    const type = PYTHON[kind] ?? 'object';
    return optional ? `    ${name}: "${type} | None" = None,` : `    ${name}: ${type},`;
  });
  const needed = ok.filter(({ optional }) => !optional);
  const further = ok.filter(({ optional }) => optional).map(({ name }) => name);
  return [
    '@lossproof.op',
    `def ${op}(`,
    ...parameters,
    ') -> dict:',
    `    return {${needed.map(({ name }) => `"${name}": ...`).join(', ')}}`,
    ...(further.length === 0
      ? []
      : [`    # and, where the trainer has ${further.length === 1 ? 'it' : 'them'}: ${further.join(', ')}`]),
  ].join('\n');
}

function described(
  heading: string,
  lead: string,
  rows: readonly { readonly name: string; readonly says: string }[],
): string[] {
  if (rows.length === 0) return [];
  return [
    heading,
    lead,
    ['| name | is |', '|---|---|', ...rows.map(({ name, says }) => `| \`${name}\` | ${says} |`)].join('\n'),
  ];
}

function counted(count: number): string {
  return `${count} ${count === 1 ? 'property' : 'properties'}`;
}

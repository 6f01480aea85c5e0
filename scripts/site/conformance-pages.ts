// What published trainers answered, as Markdown: which property each newest version holds, and of each adapter all versions
// that were asked, with the smallest case, the cause and the line of code of what is red. Made of docs/trainers/results.json.
import { properties } from '../../properties/index.ts';
import type { Cause } from '../../src/check/saved/causes.ts';
import { isBefore } from '../../src/protocol/versions.ts';
import { countOf } from '../../src/report/verdict.ts';
import { FAILING } from '../../src/vocabulary.ts';
import { causesOf } from '../docs/known-page.ts';
import { RED, type Red, readResults, type TrainerResult } from '../trainers/results.ts';

/** Paths within the repository, if they were files of it. */
export const CONFORMANCE_FILE = 'docs/conformance.md';
const pageOf = (adapter: string): string => `docs/conformance/${adapter}.md`;
const badgeOf = (adapter: string): string => `docs/conformance/${adapter}.svg`;

interface Trainer {
  readonly adapter: string;
  /** Newest first; those that could be asked. */
  readonly versions: readonly [TrainerResult, ...TrainerResult[]];
}

function trainers(results: readonly TrainerResult[]): Trainer[] {
  const asked = results.filter(({ lacks }) => lacks === undefined);
  return [...new Set(asked.map(({ adapter }) => adapter))].flatMap((adapter) => {
    const [newest, ...older] = asked.filter((each) => each.adapter === adapter);
    return newest === undefined ? [] : [{ adapter, versions: [newest, ...older] as const }];
  });
}

/** Path to text, and path to picture. */
export function conformancePages(results = readResults()): {
  readonly pages: ReadonlyMap<string, string>;
  readonly badges: ReadonlyMap<string, string>;
} {
  const all = trainers(results);
  return {
    pages: new Map([
      [CONFORMANCE_FILE, overview(all)],
      ...all.map((trainer) => [pageOf(trainer.adapter), trainerPage(trainer)] as const),
    ]),
    badges: new Map(all.map(({ adapter, versions: [newest] }) => [badgeOf(adapter), badge(newest)])),
  };
}

const LEGEND =
  '<span class="holds">✓</span> holds · <span class="red">✗</span> wrong, with a confirmed cause or a new failure · <span class="unknown">?</span> could not be judged · empty: not offered';

function overview(all: readonly Trainer[]): string {
  const newest = all.map(({ versions }) => versions[0]);
  return [
    '# Trainers, checked',
    'What lossproof found in unmodified published trainers. Each was run on the CPU against all properties of levels `must` and `should`. The pages of the trainers have each defect with its smallest case, the line of code, and a command that shows it again.',
    table(
      ['trainer', 'version', 'holds', 'wrong', 'not judged', 'checked on'],
      newest.map((each) => [
        `[${each.adapter}](conformance/${each.adapter}.md)`,
        each.version,
        String(idsOf(each, 'pass').length),
        String(redIds(each).length),
        String(idsOf(each, 'skipped').length),
        each.date,
      ]),
    ),
    `To repeat it in a clone: \`npm run setup:trainers && npm run conformance-site\`. A [workflow](../templates/conformance-site.yml) does so every night. A project can show its badge, such as ![${badgeText(newest[0])}](conformance/${newest[0]?.adapter}.svg).`,
    '## Every property',
    LEGEND,
    ...byStage(newest, (each) => each.adapter, 'properties'),
  ].join('\n\n');
}

function trainerPage({ adapter, versions }: Trainer): string {
  const [newest] = versions;
  return [
    `# ${adapter}`,
    `![${badgeText(newest)}](${adapter}.svg)`,
    `Version ${newest.version}, checked on ${newest.date} with ${newest.cases} cases per property. ${judged(newest)}`,
    'To repeat it, with your own Python that has the trainer:',
    `\`\`\`\n${command(newest)}\n\`\`\``,
    ...wrong(newest),
    '## Every property by version',
    LEGEND,
    ...byStage(versions, ({ version }) => version, '../properties'),
    '---',
    '[All trainers](../conformance.md) · [known bugs, as lists](../trainers/known.md)',
  ].join('\n\n');
}

function judged(result: TrainerResult): string {
  const red = redIds(result).length;
  const skipped = idsOf(result, 'skipped').length;
  return `${idsOf(result, 'pass').length} properties hold, ${red} ${red === 1 ? 'is' : 'are'} broken, ${skipped} could not be judged. The trainer has no op for the other ${result.unsupported}.`;
}

const command = ({ adapter, cases }: TrainerResult, only?: string): string =>
  `npx lossproof check --adapter ${adapter} --python .venv/bin/python --level should --seed 1 --cases ${cases}${only === undefined ? '' : ` --only ${only}`}`;

/** What is broken in one way is one section, with the case of its first property. */
function wrong(result: TrainerResult): string[] {
  const ways = new Map<string, string[]>();
  for (const id of redIds(result)) {
    const way = result.red[id]?.reason ?? result.red[id]?.sentence ?? '';
    ways.set(way, [...(ways.get(way) ?? []), id]);
  }
  if (ways.size === 0) return ['## What is wrong', 'Nothing was found.'];
  return [`## What is wrong`, ...[...ways].flatMap(([way, ids]) => section(result, way, ids))];
}

function section(result: TrainerResult, way: string, ids: readonly string[]): string[] {
  const [first = ''] = ids;
  const { sentence, strip, given }: Red = result.red[first] ?? {};
  const report = reportOf(result, first);
  return [
    `### ${first}`,
    way,
    ...(report === undefined
      ? []
      : [`[Report, with a reproduction that needs no lossproof](../trainers/findings/${report}.md)`]),
    ...(sentence === undefined || sentence === way ? [] : [`**Seen:** ${sentence}`]),
    ...(strip === undefined ? [] : [`\`\`\`text\n${strip.join('\n')}\n\`\`\``]),
    ...(given === undefined ? [] : [`Smallest case:`, `\`\`\`json\n${given}\n\`\`\``]),
    `\`\`\`\n${command(result, first)}\n\`\`\``,
    ...(ids.length === 1
      ? []
      : [
          `The same breaks ${ids
            .slice(1)
            .map((id) => `\`${id}\``)
            .join(', ')}.`,
        ]),
  ];
}

function reportOf({ adapter, version }: TrainerResult, id: string): string | undefined {
  const fits = ({ versions: [from, before], failures }: Cause): boolean =>
    id in failures &&
    !(from !== null && isBefore(version, from)) &&
    !(before !== null && !isBefore(version, before));
  return causesOf(adapter).find((cause) => cause.finding !== undefined && fits(cause))?.finding;
}

/** A table for each stage of which any property was judged. */
function byStage(
  results: readonly TrainerResult[],
  heading: (result: TrainerResult) => string,
  to: string,
): string[] {
  const marks = results.map(marksOf);
  return [...new Set(properties.map(({ stage }) => stage))].flatMap((stage) => {
    const rows = properties.filter(
      (property) => property.stage === stage && marks.some((each) => each.has(property.id)),
    );
    if (rows.length === 0) return [];
    return [
      `### ${stage}`,
      table(
        ['property', ...results.map(heading)],
        rows.map(({ id }) => [`[${id}](${to}/${id}.md)`, ...marks.map((each) => each.get(id) ?? '')]),
      ),
    ];
  });
}

/** Id to mark, of what is not unsupported. */
function marksOf(result: TrainerResult): ReadonlyMap<string, string> {
  const marked = (ids: readonly string[], kind: string, word: string, glyph: string) =>
    ids.map((id) => [id, `<span class="${kind}" title="${word}">${glyph}</span>`] as const);
  return new Map([
    ...marked(idsOf(result, 'skipped'), 'unknown', 'not judged', '?'),
    ...marked(idsOf(result, 'pass'), 'holds', 'holds', '✓'),
    ...marked(redIds(result), 'red', 'wrong', '✗'),
  ]);
}

const idsOf = ({ verdicts }: TrainerResult, verdict: keyof TrainerResult['verdicts']): readonly string[] =>
  verdicts[verdict] ?? [];
const redIds = (result: TrainerResult): readonly string[] => [...RED].flatMap((each) => idsOf(result, each));

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

function badgeText(result: TrainerResult | undefined): string {
  if (result === undefined) return 'lossproof';
  const shown = (['known', 'pass'] as const).map(
    (verdict) => [verdict, idsOf(result, verdict).length] as const,
  );
  const failing = FAILING.reduce((sum, verdict) => sum + idsOf(result, verdict).length, 0);
  return [
    ...(failing > 0 ? [`${failing} fail`] : []),
    ...shown.flatMap(([verdict, count]) => (count > 0 ? [countOf(verdict, count)] : [])),
  ].join(', ');
}

/** Of the width that a sans serif of 11 px needs at most. */
const CHARACTER = 6.6;

function badge(result: TrainerResult): string {
  const [left, right] = [`${result.adapter} ${result.version}`, badgeText(result)];
  const [a, b] = [left, right].map((text) => Math.ceil(text.length * CHARACTER) + 12) as [number, number];
  const colour = redIds(result).length > 0 ? '#c2410c' : '#0369a1';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${a + b}" height="20" role="img" aria-label="${left}: ${right}">
<rect width="${a}" height="20" fill="#374151"/><rect x="${a}" width="${b}" height="20" fill="${colour}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="${a / 2}" y="14">${left}</text><text x="${a + b / 2}" y="14">${right}</text>
</g></svg>
`;
}

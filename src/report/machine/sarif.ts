// Runs as SARIF 2.1.0, which code scanning reads: a rule a property, a result a property that does not hold. What one
// lives with is there too, suppressed by its reason. There is no line to point at, so a result stands at the adapter.
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/
import { type Bug, bugsOf, threadUrl } from '../../bugs/index.ts';
import type { PropertyFacts, PropertyResult } from '../../check/events.ts';
import { kindOf } from '../../check/saved/known.ts';
import { complaintsOf, cutOffSentence, scriptOf, sentenceOf } from '../complaints.ts';
import { againFor, replayLine } from '../failure/reproduce.ts';
import { isCutOff, lastingNames, type Run, whoseTrainer } from '../runs.ts';
import { clipped, harmless } from '../text/visible.ts';

/** One document; code scanning wants the runs of one tool told apart, so each has a category of its own. */
export function sarifReport(runs: readonly Run[]): string {
  const names = lastingNames(runs);
  const document = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: runs.map((run, at) => runOf(run, names[at] ?? '')),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** Where a command names no script: the file that says how the trainer is started. */
const CONFIG_FILE = 'lossproof.config.json';
const MOST_MESSAGE = 2_000;
/** Bugs of one property that are told: the first are the likeliest. */
const MOST_BUGS = 5;
/** Code scanning takes no longer rule id. */
const MOST_ID = 255;

function runOf(run: Run, name: string): object {
  const { start } = run;
  const results = [
    ...complaintsOf(run).map(({ result, weight }) => ({ result, level: weight })),
    ...run.results
      .filter(({ verdict }) => verdict === 'known')
      .map((result) => ({ result, level: 'error' as const })),
  ];
  const ids = [...new Set(results.map(({ result }) => result.id))];
  const facts = new Map(start.properties.map((each) => [each.id, each]));
  const first = new Map(results.map(({ result }) => [result.id, result]));
  return {
    tool: {
      driver: {
        name: 'lossproof',
        version: start.version,
        rules: ids.map((id) => ruleOf(id, first.get(id)?.title ?? id, facts.get(id))),
      },
    },
    // A category ends with a slash; what would stand behind it names the single run.
    automationDetails: { id: `lossproof/${name}/`, description: { text: harmless(whoseTrainer(start)) } },
    invocations: [
      {
        executionSuccessful: !isCutOff(run),
        ...(start.started === undefined ? {} : { startTimeUtc: start.started }),
        ...(isCutOff(run)
          ? {
              toolExecutionNotifications: [{ level: 'error', message: { text: cutOffSentence(run) } }],
            }
          : {}),
      },
    ],
    results: results.map(({ result, level }) => resultOf(result, level, ids.indexOf(result.id), run)),
    columnKind: 'utf16CodeUnits',
    properties: {
      trainer: harmless(whoseTrainer(start)),
      seed: start.seed,
      cases: start.cases,
      command: harmless(start.command),
    },
  };
}

function ruleOf(id: string, title: string, facts: PropertyFacts | undefined): object {
  const bugs = facts === undefined ? [] : bugsOf(facts.catches).slice(0, MOST_BUGS);
  return {
    id: ruleId(id),
    shortDescription: { text: harmless(title) },
    ...(facts === undefined
      ? {}
      : {
          fullDescription: { text: facts.why },
          help: { text: helpText(facts, bugs), markdown: helpMarkdown(facts, bugs) },
          defaultConfiguration: { level: facts.level === 'must' ? 'error' : 'warning' },
          properties: { tags: [facts.stage, facts.level] },
        }),
  };
}

function ruleId(id: string): string {
  return clipped(harmless(id), MOST_ID);
}

function helpText({ title, why }: PropertyFacts, bugs: readonly Bug[]): string {
  return [title, why, ...bugs.map(({ what, todo }) => [what, todo].filter(Boolean).join(' '))].join('\n');
}

function helpMarkdown({ title, why }: PropertyFacts, bugs: readonly Bug[]): string {
  const causes = bugs.map(({ what, todo, seen }) => {
    const threads = seen.map((each) => `[${each}](${threadUrl(each)})`).join(', ');
    return `- ${[what, todo, threads === '' ? '' : `Seen in ${threads}.`].filter(Boolean).join(' ')}`;
  });
  const likely = causes.length === 0 ? [] : ['**What it may be, and what to do**', causes.join('\n')];
  return [`**${title}**`, why, ...likely].join('\n\n');
}

function resultOf(result: PropertyResult, level: 'error' | 'warning', ruleIndex: number, run: Run): object {
  const { id, failure, others = [], verdict, reason, link } = result;
  const replay = failure === undefined ? undefined : replayLine(run, failure);
  const again = againFor(run, result);
  const why = harmless([reason ?? 'known', ...(link === undefined ? [] : [link])].join(' '));
  return {
    ruleId: ruleId(id),
    ruleIndex,
    level,
    message: { text: clipped(sentenceOf(result), MOST_MESSAGE) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: {
            uri: uriOf(scriptOf(run.start.command) ?? CONFIG_FILE),
            uriBaseId: '%SRCROOT%',
          },
          region: { startLine: 1 },
        },
      },
    ],
    // The first stays while the case changes, the second tells two cases of a property apart.
    partialFingerprints: {
      'property/v1': ruleId(id),
      'propertyAndCase/v1': `${ruleId(id)} ${failure?.caseId ?? verdict}`,
    },
    ...(verdict === 'known'
      ? {
          suppressions: [{ kind: 'external', status: 'accepted', justification: why }],
        }
      : {}),
    properties: {
      verdict,
      ...(again === undefined ? {} : { again }),
      ...(replay === undefined ? {} : { replay }),
      ...(failure === undefined ? {} : { caseId: failure.caseId, seed: failure.seed }),
      ...(others.length === 0
        ? {}
        : { others: others.map((other) => ({ caseId: other.caseId, kind: kindOf(other) })) }),
    },
  };
}

function uriOf(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

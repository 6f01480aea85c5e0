// One failed property on a page, in the order in which it is read: which rule was broken, where exactly, by how much,
// what the smallest case is, how it is seen again; and folded behind that, what the trainer was asked and said.
import type { Failure, PropertyFacts, PropertyResult, Replay } from '../../../check/events.ts';
import { failingLabelsSentence } from '../../../check/failing-labels.ts';
import type { Finding } from '../../../check/property.ts';
import { sentTemplate } from '../../../check/sent-template.ts';
import {
  CONFIRMED,
  explanationOf,
  facts as factsLine,
  foundIn as foundWhere,
  MOST_STRIPS,
} from '../../failure/failure.ts';
import { tail, troubleIn } from '../../failure/trouble.ts';
import { plural } from '../../text/plural.ts';
import { seriesFigures } from '../monitor/monitor-series.ts';
import { html, type Markup } from '../page/markup.ts';
import { cutText, readable, withCode } from '../page/text.ts';
import { verdictMark } from '../run/verdicts.ts';
import { aboutRule } from './about.ts';
import { caseBlock } from './case.ts';
import { labelBars } from './labels.ts';
import { numbersTable } from './numbers.ts';
import { reproduceSection } from './reproduce.ts';
import { rowsCarpet } from './rows.ts';
import { shrinkSteps } from './steps.ts';
import { stripTable } from './strip.ts';
import { printedLines, troubleBlock } from './trouble.ts';

export interface CardOptions {
  readonly result: PropertyResult;
  readonly facts: PropertyFacts;
  /** Absent: how it is seen again is not known. */
  readonly replay?: Replay | undefined;
  /** Of the article; every other id in it begins with it. Once on a page. */
  readonly id: string;
  /** Further properties in which the trainer fails in the same way. */
  readonly also?: readonly string[];
}

/** An article under an h2. Nothing for a result without a failure. */
export function failureCard({ result, facts, replay, id, also = [] }: CardOptions): Markup {
  const { failure } = result;
  if (failure === undefined) return html``;
  const trouble = troubleIn(failure);
  return html`<article class="card" id="${id}" aria-labelledby="${id}/head">
<header><h3 id="${id}/head">${verdictMark(result.verdict)} <a href="#${id}">${result.id}</a></h3><p class="aside">${factsLine(result, failure, replay)}</p></header>
<p class="rule">${replay?.logged === true && facts.why !== '' ? html`${facts.title.replace(/\.?$/, '.')} ${withCode(facts.why)}` : facts.title}</p>
${failure.finding !== undefined && findingBlock(failure.finding, id)}
${trouble !== undefined && troubleBlock(trouble)}
${failingLabels(result)}${labelBars(result, id)}
${confirmation(failure)}
${verdictReason(result)}
${theSame(also)}
${templateSent(failure, id)}
${sameAs(failure)}
${explanationOf(failure).map((said) => html`<p class="notice">${said}</p>`)}
${foundIn(failure, replay, id)}
${shrinkSteps({ steps: failure.steps ?? [], id })}
${reproduceSection(failure, replay)}
${conversation(failure, id)}
${(result.others ?? []).map((other, at) => besideIt(other, replay, `${id}/${at + 2}`))}
${replay?.golden !== true && aboutRule(facts, id)}
</article>
`;
}

function foundIn(
  { given, anyValue, finding }: Failure,
  replay: Replay | undefined,
  id: string,
): Markup | undefined {
  if (given === undefined) return undefined;
  // A plot says the same, and is read first.
  if (finding?.series !== undefined)
    return html`<details id="${id}/values"><summary><h4>The values around it</h4></summary>${caseBlock(given)}</details>`;
  // Its tokens stand in the strip above.
  if (replay?.traced === true && replay.golden !== true)
    return html`<details id="${id}/given"><summary><h4>Where it was found, as JSON</h4></summary>${caseBlock(given)}</details>`;
  const title = replay?.golden === true ? 'Request' : 'Smallest case';
  return html`<section><h4>${title}</h4>${caseBlock(given, anyValue)}</section>`;
}

/** The first thing to look at where one went along; a case is cut where it is long, and may have it behind the cut. */
function templateSent(failure: Failure, id: string): Markup | undefined {
  const template = sentTemplate(failure);
  if (template === undefined) return undefined;
  const { source, family } = template;
  return html`<details id="${id}/template"${family === undefined && html` open`}><summary><h4>Chat template sent along</h4>${family !== undefined && html` <span class="aside">the shape of ${family}</span>`}</summary><pre class="case">${cutText(source, TEMPLATE_CHARACTERS)}</pre></details>`;
}

/** Released ones that are longer are known to their users. */
const TEMPLATE_CHARACTERS = 8_000;
/** Another cause under the same rule, with a case of its own. */
function besideIt(other: Failure, replay: Replay | undefined, id: string): Markup {
  const trouble = troubleIn(other);
  return html`<section class="beside" id="${id}"><h4>Beside it, ${foundWhere(other)}</h4>
${other.finding !== undefined && findingBlock(other.finding, id)}
${trouble !== undefined && troubleBlock(trouble)}
${confirmation(other)}
${sameAs(other)}
${templateSent(other, id)}
${foundIn(other, replay, id)}
${reproduceSection(other, replay)}
${conversation(other, id)}
</section>`;
}

function sameAs({ sameAs: first }: Failure): Markup | false {
  return (
    first !== undefined &&
    html`<p class="notice">The trainer fails here as in <code>${first}</code>, where the case is made small.</p>`
  );
}

const SENTENCE_CHARACTERS = 2_000;
/** More rows than this of one case repeat the picture, folded or not. */
const MOST_FOLDED = 20;
/** Request lines on a page; all of them are in the saved case. */
const MOST_LINES = 20;
const MOST_STDERR = 40;
const MOST_ALSO = 30;

function findingBlock(
  { sentence, strips = [], numbers = [], series = [], answers, advice, note }: Finding,
  id: string,
): Markup {
  const folded = strips.slice(MOST_STRIPS, MOST_STRIPS + MOST_FOLDED);
  const more = strips.length - MOST_STRIPS;
  const unshown = more - folded.length;
  const pictureOf = (at: number): string => `${id}/picture-${at + 1}`;
  const carpet = rowsCarpet(strips, id, (at) => (at < MOST_STRIPS + MOST_FOLDED ? pictureOf(at) : undefined));
  const shown = (from: number): Markup[] =>
    (from === 0 ? strips.slice(0, MOST_STRIPS) : folded).map((strip, at) =>
      stripTable(strip, {
        label: `${id}, row ${strip.row}, picture ${from + at + 1}`,
        ...(carpet === undefined ? {} : { id: pictureOf(from + at) }),
      }),
    );
  return html`<p class="sentence">${sentenceText(sentence)}</p>
${seriesFigures(series)}${carpet}
${shown(0)}
${more > 0 && html`<details id="${id}/rows"><summary>${plural(more, 'more row')}</summary>${shown(MOST_STRIPS)}${unshown > 0 && html`<p class="note">and ${plural(unshown, 'more row')}</p>`}</details>`}
${numbersTable(numbers)}
${answers !== undefined && html`<p class="advice"><b>One line of <code>semantics</code> answers it:</b> ${answers.map((answer, at) => html`${at > 0 && ' or '}<code>${answer}</code>`)}</p>`}
${advice !== undefined && html`<p class="advice"><b>What to do.</b> ${withCode(advice.slice(0, SENTENCE_CHARACTERS))}</p>`}
${note !== undefined && html`<p class="note">${cutText(note, SENTENCE_CHARACTERS)}</p>`}`;
}

/** Tokens that the sentence quotes look like tokens, and keep their direction to themselves. */
function sentenceText(sentence: string): Markup {
  const pieces = sentence.slice(0, SENTENCE_CHARACTERS).split(/(?<=^|[\s(])('[^'\n]{1,80}')(?=$|[\s.,;:)])/u);
  if (sentence.length > SENTENCE_CHARACTERS) return cutText(sentence, SENTENCE_CHARACTERS);
  return html`${pieces.map((piece, at) => (at % 2 === 1 ? html`<bdi class="quoted">${readable(piece)}</bdi>` : piece))}`;
}

function failingLabels({ failingLabels: labels }: PropertyResult): Markup | false {
  const sentence = failingLabelsSentence(labels);
  return sentence !== '' && html`<p class="notice">${cutText(sentence, SENTENCE_CHARACTERS)}</p>`;
}

function confirmation({ confirmed }: Failure): Markup | false {
  const sentence = CONFIRMED[confirmed];
  return sentence !== undefined && html`<p class="notice">${sentence}</p>`;
}

function verdictReason({ verdict, reason }: PropertyResult): Markup | false {
  const shown = verdict === 'known' || verdict === 'changed';
  if (!shown || reason === undefined) return false;
  return html`<p class="notice"><b>${verdict === 'known' ? 'Known' : 'Changed'}:</b> ${cutText(reason, SENTENCE_CHARACTERS)}</p>`;
}

function theSame(others: readonly string[]): Markup | false {
  if (others.length === 0) return false;
  const more = others.length - MOST_ALSO;
  return html`<p class="notice"><b>The same with:</b> ${others.slice(0, MOST_ALSO).join(', ')}${more > 0 && ` and ${more} more`}</p>`;
}

function conversation({ lines, stderrTail, trainerFailure }: Failure, id: string): Markup {
  const printed = trainerFailure === undefined ? tail(stderrTail ?? '', MOST_STDERR) : [];
  const more = lines.length - MOST_LINES;
  return html`${lines.length > 0 && html`<details class="asked" id="${id}/asked"><summary><h4>What the trainer was asked</h4> <span class="aside">${plural(lines.length, 'line')}</span></summary>${printedLines(lines.slice(0, MOST_LINES))}${more > 0 && html`<p class="note">and ${plural(more, 'more line')}</p>`}</details>`}
${printed.length > 0 && html`<details id="${id}/stderr"><summary><h4>What it printed</h4> <span class="aside">the end of its stderr</span></summary>${printedLines(printed)}</details>`}`;
}

// What fails: a list of all of it, a line each, and the cards. Known failures with their reasons stand apart, behind.
import { othersSaid, saidOf } from '../../failure/failure.ts';
import { plural } from '../../text/plural.ts';
import { shorten } from '../../text/visible.ts';
import { LOOKS } from '../../verdict.ts';
import { html, type Markup } from '../page/markup.ts';
import { readable } from '../page/text.ts';
import { verdictMark } from '../run/verdicts.ts';
import { failureCard } from './card.ts';
import { MOST_CARDS, type Telling, type Told } from './told.ts';

/** The list and the cards; nothing where nothing fails. */
export function failures({ failures: all }: Telling, several: boolean): Markup | undefined {
  if (all.length === 0) return undefined;
  const [listed, further] = [all.slice(0, MOST_LISTED), all.slice(MOST_LISTED)];
  const title = html`<h2 id="failures">${plural(all.length, 'failure')}</h2>`;
  return html`<section class="failures" aria-labelledby="failures">
${
  all.length === 1 && all.every(hasCard)
    ? title
    : html`<details id="list"${all.length <= MOST_OPEN && html` open`}><summary>${title} <span class="aside">${stagesOf(all)}</span></summary>
<ol class="index">
${listed.map((told) => row(told, several))}</ol></details>`
}
${
  further.length > 0 &&
  html`<details id="further"><summary>${plural(further.length, 'further failure')}</summary><ol class="index" start="${MOST_LISTED + 1}">
${further.map((told) => row(told, several))}</ol></details>`
}
${all.filter(hasCard).map((told) => cardOf(told, several))}
</section>`;
}

export function knownFailures({ known }: Telling, several: boolean): Markup | undefined {
  if (known.length === 0) return undefined;
  return html`<section class="known" aria-labelledby="known"><h2 id="known">${plural(known.length, 'known failure')}</h2>
<p>${LOOKS.known.meaning}</p>
<ul class="index">
${known.map((told) => row(told, several))}</ul>
<details id="known-cards"><summary>Their cases</summary>
${known.filter(hasCard).map((told) => cardOf(told, several))}
</details></section>`;
}

/** More lines than this push the first picture off the screen of a laptop. */
const MOST_OPEN = 2;
/** Those behind are folded: a list of thousands is searched, not read. */
const MOST_LISTED = MOST_CARDS;
/** The row is one line or two; all of it is in the card, the terminal and the file of events. */
const MOST_WORDS = 240;

const hasCard = ({ without }: Told): boolean => without === undefined;

/** `tokenize 3 · mask 2`, in the order of the page. */
function stagesOf(all: readonly Told[]): string {
  const counts = new Map<string, number>();
  for (const { facts } of all) counts.set(facts.stage, (counts.get(facts.stage) ?? 0) + 1);
  return [...counts].map(([stage, count]) => `${stage} ${count}`).join(' · ');
}

function row(told: Told, several: boolean): Markup {
  const { result, anchor } = told;
  const name = html`${verdictMark(result.verdict)} <code>${result.id}</code>`;
  // What stands in no table is filtered by what its row says.
  const alone =
    told.without === 'room' && html` data-verdict="${result.verdict}" data-level="${result.level}"`;
  return html`<li data-property="${result.id}"${alone}${!hasCard(told) && html` id="${anchor}"`}>${
    hasCard(told) ? html`<a href="#${anchor}">${name}</a>` : html`<span>${name}</span>`
  }${several && html` <span class="in">${told.runs.join(', ')}</span>`}<p>${words(told)}</p></li>
`;
}

function words({ result, without, replay }: Told): Markup {
  const { failure, reason } = result;
  if (typeof without === 'object')
    return html`The trainer fails here as in <a href="#${without.told.anchor}"><code>${without.told.result.id}</code></a>.`;
  const said = saidOf(failure) ?? '';
  const about =
    result.verdict === 'known' || result.verdict === 'changed' || said === '' ? (reason ?? said) : said;
  const again =
    without === 'room' && failure !== undefined && replay?.folder !== undefined && !failure.unsaved
      ? html` <code>${replay.command} ${failure.caseId}</code>`
      : undefined;
  const answers = result.answers?.map((answer) => html` <code>${answer}</code>`);
  const beside = othersSaid(result).map((each) => html` ${readable(shorten(each, MOST_WORDS))}`);
  return html`${readable(shorten(about, MOST_WORDS))}${beside}${answers}${link(result.link)}${again}`;
}

/** Only addresses that a browser opens as a page: the file that it is from is anybody's. */
function link(address: string | undefined): Markup | undefined {
  if (address === undefined || !/^https?:\/\//iu.test(address)) return undefined;
  return html` <a href="${address}" rel="noreferrer">${shorten(address, MOST_WORDS)}</a>`;
}

function cardOf({ result, facts, replay, anchor, runs, also }: Told, several: boolean): Markup {
  const [run, ...others] = runs;
  const whose = html`<p class="in">${run}${others.length > 0 && `; the same in ${others.join(', ')}`}</p>`;
  return html`<div class="told" data-property="${result.id}">${several && whose}${failureCard({
    result,
    facts,
    replay,
    id: anchor,
    also,
  })}</div>
`;
}

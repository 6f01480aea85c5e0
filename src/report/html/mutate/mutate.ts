// A run of `mutate` as a page: the score, the files, each change that survives as the lines that it changes, and what became of
// all of them, file by file.
import { type Judged, type Mutation, type Outcome, scoreOf } from '../../../mutate/events.ts';
import {
  type Survivor,
  scoreLine,
  shareFound,
  survivorsOf,
  underOf,
  unreachedFunctions,
  unreachedSentence,
} from '../../mutate/mutate.ts';
import { plural } from '../../text/plural.ts';
import { html, type Markup } from '../page/markup.ts';
import { page } from '../page/page.ts';
import { readable, withCode } from '../page/text.ts';

/** The whole document. */
export function mutatePage(mutation: Mutation): string {
  const score = scoreOf(mutation);
  const survivors = survivorsOf(mutation);
  const { glyph, brush } = LOOKS[score.survive > 0 ? 'survives' : 'found'];
  const body = html`<h1 class="${brush}"><span class="glyph" aria-hidden="true">${glyph}</span> ${scoreLine(mutation)}</h1>
${facts(mutation)}
${fileTable(mutation)}
${survivors.length > 0 && html`<h2 id="survivors">What survives</h2>`}
${survivors.map(survivorCard)}
${unreachedSection(mutation)}
<section aria-labelledby="changes"><h2 id="changes">All changes</h2>
${mutation.start.files.map((_, at) => fileSection(mutation, at))}</section>`;
  return page({ title: `${glyph} ${scoreLine(mutation)} · ${mutation.start.command} · lossproof`, body });
}

// --- helpers ---

const LOOKS: Readonly<
  Record<Outcome | 'left', { readonly glyph: string; readonly word: string; readonly brush: string }>
> = {
  found: { glyph: '✓', word: 'found', brush: 'blue' },
  survives: { glyph: '◇', word: 'survives', brush: 'orange' },
  unreached: { glyph: '–', word: 'unreached', brush: 'dim' },
  untried: { glyph: '?', word: 'untried', brush: 'dim' },
  left: { glyph: '…', word: 'not yet', brush: 'dim' },
};

function facts(mutation: Mutation): Markup {
  const { start } = mutation;
  const share = shareFound(scoreOf(mutation));
  const entries: [string, string][] = [
    ...(share === undefined
      ? []
      : [['of those that are reached', `${(share * 100).toFixed(1)} % are found`] as [string, string]]),
    ['trainer', start.command],
    ['begun', start.started],
    ['seed', String(start.seed)],
    ['cases per property', start.cases.toLocaleString('en')],
    ['lossproof', start.version],
  ];
  return html`<dl class="facts">${entries.map(
    ([term, value]) => html`<div><dt>${term}</dt><dd>${readable(value)}</dd></div>`,
  )}</dl>`;
}

function fileTable(mutation: Mutation): Markup {
  const { start, judged } = mutation;
  const outcomes = new Map(judged.map(({ id, outcome }) => [id, outcome]));
  const rows = start.files.map(({ shown }, at) => {
    const own = start.changes.filter(({ file }) => file === at);
    const count = (wanted: Outcome): number => own.filter(({ id }) => outcomes.get(id) === wanted).length;
    return (
      own.length > 0 &&
      html`<tr><th scope="row"><a href="#file-${at}"><code>${shown}</code></a></th><td>${own.length}</td><td>${count('found')}</td><td>${count('unreached')}</td><td>${count('survives')}</td></tr>
`
    );
  });
  return html`<div class="wide"><table class="changed"><thead><tr><th scope="col">File</th><th scope="col">Changes</th><th scope="col">Found</th><th scope="col">Reached by no op</th><th scope="col">Survive</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function survivorCard(survivor: Survivor): Markup {
  const { change, place, hints } = survivor;
  return html`<article class="card change" id="change-${change.id}" data-item="change" data-s="survives" data-kind="${change.kind}" data-file="${place}">
<header><h3><code>${place}</code> ${change.kind}</h3><p class="aside">${readable(underOf(survivor))}${change.bugs.length > 0 && ` · ${change.bugs.join(', ')}`}</p></header>
${diff(change.before, change.after)}
${hints.length > 0 && html`<ul>${hints.map((hint) => html`<li>${withCode(readable(hint))}</li>`)}</ul>`}
</article>
`;
}

function diff(before: string, after: string): Markup {
  const line = (sign: string, name: string, text: string): Markup =>
    html`<div class="${name}"><span aria-hidden="true">${sign}</span><code>${readable(text)}</code></div>`;
  return html`<div class="diff wide">${line('−', 'was', before)}${line('+', 'is', after)}</div>`;
}

function unreachedSection(mutation: Mutation): Markup | undefined {
  const functions = unreachedFunctions(mutation);
  if (functions.length === 0) return undefined;
  return html`<section aria-labelledby="unreached"><h2 id="unreached">In code that no op reaches</h2>
<ul>${functions.map(
    (each) => html`<li>${withCode(readable(unreachedSentence(each)))}</li>
`,
  )}</ul></section>`;
}

function fileSection({ start, judged }: Mutation, at: number): Markup | undefined {
  const own = start.changes.filter(({ file }) => file === at);
  const shown = start.files[at]?.shown ?? '';
  if (own.length === 0) return undefined;
  const byId = new Map(judged.map((each) => [each.id, each]));
  return html`<details id="file-${at}" class="changes"><summary><h3><code>${shown}</code></h3><span class="aside">${plural(own.length, 'change')}</span></summary>
<div class="wide"><table><thead><tr><th scope="col">Line</th><th scope="col">Change</th><th scope="col">In</th><th scope="col">Outcome</th><th scope="col">By</th></tr></thead><tbody>
${own.map((change) => {
  const verdict = byId.get(change.id);
  const look = LOOKS[verdict?.outcome ?? 'left'];
  return html`<tr data-item="change" data-s="${verdict?.outcome ?? 'left'}" data-kind="${change.kind}" data-file="${shown}:${change.line}"><td>${change.line}</td><td>${change.kind}<br><code>${readable(change.after)}</code></td><td><code>${change.function}</code></td><td class="verdict ${look.brush}"><span class="glyph" aria-hidden="true">${look.glyph}</span> ${look.word}</td><td>${byOf(verdict)}</td></tr>
`;
})}</tbody></table></div></details>`;
}

function byOf(verdict: Judged | undefined): Markup | string {
  if (verdict === undefined) return '';
  if (verdict.outcome === 'survives') return html`<a href="#change-${verdict.id}">what would find it</a>`;
  const said = verdict.error === true ? 'by an error' : '';
  return html`${verdict.by !== undefined && html`<code>${verdict.by}</code> `}${said}${verdict.outcome === 'untried' && readable(verdict.reason ?? '')}`;
}

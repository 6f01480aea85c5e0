// Where correct trainers legally differ: what each run's trainer declares, what its configuration says over that, and
// what it was measured to do. Every item is listed, so that what nobody has said can be seen as well.
import { SECTIONS } from '../../../vocabulary/choices.ts';
import type { Semantics } from '../../../vocabulary.ts';
import { type Run, runNames } from '../../runs.ts';
import { html, type Markup } from '../page/markup.ts';

export function semanticsSheet(runs: readonly Run[]): Markup {
  const names = runNames(runs);
  return html`<section class="semantics" aria-labelledby="semantics"><h2 id="semantics">Semantics</h2>
<details id="semantics-table"><summary>What ${runs.length === 1 ? 'this trainer does' : 'these trainers do'} where correct ones differ</summary>
<p>A trainer is compared with its declared, configured or measured choices. Otherwise any known variant is accepted.</p>
<div class="wide" role="region" aria-label="Semantics by run" tabindex="0"><table>
<caption>Semantics by run</caption>
<thead><tr><th scope="col" class="what">Item</th>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
${SECTIONS.map(
  ({
    title,
    names: items,
  }) => html`<tbody><tr><th scope="rowgroup" colspan="${names.length + 1}" class="group">${title}</th></tr>
${items.map(
  (item) =>
    html`<tr><th scope="row"><code>${item}</code>${differ(runs, item) && html` <small class="orange">≠ differs</small>`}</th>${runs.map((run) => html`<td>${said(run, item)}</td>`)}</tr>
`,
)}</tbody>
`,
)}<tbody><tr><th scope="rowgroup" colspan="${names.length + 1}" class="group">answers</th></tr>
${WIRE.map(
  ([name, of]) =>
    html`<tr><th scope="row"><code>${name}</code></th>${runs.map((run) => html`<td>${textOf(of(run)) ?? NOTHING}</td>`)}</tr>
`,
)}</tbody></table></div></details></section>`;
}

/** How it answers: no legal difference in what is trained, and yet the first thing to look at where numbers are off. */
const WIRE: readonly (readonly [string, (run: Run) => unknown])[] = [
  ['layout', ({ start: { hello } }) => hello.layout && `${hello.layout.alignment}, ${hello.layout.span}`],
  ['dtype', ({ start: { hello } }) => hello.dtype],
];

const NOTHING = html`<span class="dim">not said</span>`;

function said({ start }: Run, item: keyof Semantics): Markup {
  const [declared, configured, measured] = [start.hello.semantics, start.configured, start.measured].map(
    (semantics) => textOf(semantics?.[item]),
  );
  const lines = [
    ...(configured === undefined ? [] : [html`<b>${configured}</b> <small>configured</small>`]),
    ...(declared === undefined
      ? []
      : configured === undefined || configured === declared
        ? [html`<b>${declared}</b> <small>declared</small>`]
        : [html`<span class="orange">≠</span> <s>${declared}</s> <small>declared, not used</small>`]),
    ...(measured === undefined ? [] : [html`<b>${measured}</b> <small>measured</small>`]),
  ];
  return lines.length === 0 ? NOTHING : html`${lines.map((line) => html`<div>${line}</div>`)}`;
}

/** Whether the runs were held to different things: then a difference of verdicts may be no difference of quality. */
function differ(runs: readonly Run[], item: keyof Semantics): boolean {
  const held = runs.map(({ start }) =>
    [start.configured, start.hello.semantics, start.measured]
      .map((semantics) => textOf(semantics?.[item]))
      .find((value) => value !== undefined),
  );
  return new Set(held).size > 1;
}

/** As on the wire, but that null, which is a value here, reads as what it means. */
function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return 'none';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

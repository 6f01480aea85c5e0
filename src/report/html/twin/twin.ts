// A twin as a page: each change with its outcome, then, for each that was compared, where the runs part and the picture of how far
// they are apart at each module and step.
import { moduleOf, WHOLE } from '../../../twin/picture.ts';
import { type TwinResult, verdictOf } from '../../../twin/twin.ts';
import type { Difference, Outcome } from '../../../twin/verdict.ts';
import { headOf, outcomeSentences, SIGNS, type TextOf, verdictLine } from '../../twin/twin.ts';
import { html, type Markup } from '../page/markup.ts';
import { page } from '../page/page.ts';
import { cut, cutText } from '../page/text.ts';
import { type First, pictureLegend, pictureTable } from './picture.ts';

export interface TwinPage {
  readonly results: readonly TwinResult[];
  /** As typed, for a shell. */
  readonly command: string;
  /** Of each run, at most. */
  readonly steps: number;
  /** Where the records of all runs are. */
  readonly folder: string;
  readonly textOf: TextOf;
  /** Sentences about the whole: why nothing more was compared, which files were written. */
  readonly notes: readonly string[];
}

/** The whole document. */
export function twinPage(twin: TwinPage): string {
  const { results, notes } = twin;
  const line = verdictLine(results);
  const verdict = verdictOf(results);
  const brush = { agree: 'blue', parts: 'orange', untold: '' }[verdict];
  const pictured = results.filter(({ outcome }) => outcome.kind !== 'untold');
  const body = html`<h1 class="${brush}"><span class="glyph" aria-hidden="true">${SIGNS[verdict]}</span> ${line}</h1>
${facts(twin)}
${notes.length > 0 && html`<div class="banner" role="note">${notes.map((note) => html`<p>${cutText(note, MOST_CHARACTERS)}</p>`)}</div>`}
${changeTable(results)}
${pictured.length > 0 && html`<section aria-labelledby="places"><h2 id="places">Differences by module and step</h2>${pictureLegend()}`}
${pictured.filter(({ outcome }) => outcome.kind === 'parts').map((result) => card(result, twin.textOf))}
${pictured.filter(({ outcome }) => outcome.kind !== 'parts').map((result) => folded(result, twin.textOf))}
${pictured.length > 0 && html`</section>`}`;
  return page({
    title: `${SIGNS[verdict]} ${line} · ${cut(twin.command, MOST_CHARACTERS)} · lossproof`,
    body,
  });
}

// --- helpers ---

function facts({ command, steps, folder, results }: TwinPage): Markup {
  const entries: readonly (readonly [string, string])[] = [
    ['command', command],
    ['optimiser steps', `${steps} per run`],
    ['changes', String(results.length)],
    ['records', folder],
  ];
  return html`<dl class="facts">${entries.map(
    ([term, value]) => html`<div><dt>${term}</dt><dd>${cutText(value, MOST_CHARACTERS)}</dd></div>`,
  )}</dl>`;
}

/** Of a command, a sentence with names of others, or a line of a script. */
const MOST_CHARACTERS = 800;

const BRUSHES: Readonly<Record<Outcome['kind'], string>> = {
  agree: 'blue',
  sized: 'blue',
  parts: 'orange',
  untold: 'dim',
};

function changeTable(results: readonly TwinResult[]): Markup {
  return html`<section class="semantics twin-changes" aria-labelledby="changes"><h2 id="changes">Changes</h2>
<div class="wide" role="region" aria-label="Table of changes" tabindex="0"><table><caption>Each change with its outcome</caption><thead><tr><th scope="col">Change</th><th scope="col">What the second run does</th><th scope="col">Outcome</th></tr></thead><tbody>
${results.map(({ name, sentence, outcome }) => {
  const head = html`<span class="glyph" aria-hidden="true">${SIGNS[outcome.kind]}</span> ${headOf(outcome)}`;
  return html`<tr><th scope="row"><code>${name}</code></th><td>${sentence}</td><td><span class="${BRUSHES[outcome.kind]}">${outcome.kind === 'untold' ? head : html`<a href="#change-${name}">${head}</a>`}</span>${outcome.kind === 'untold' && reason(outcome)}</td></tr>
`;
})}</tbody></table></div></section>`;
}

function reason({ why, lines = [] }: Extract<Outcome, { kind: 'untold' }>): Markup {
  return html`: ${cutText(why, MOST_CHARACTERS)}${lines.length > 1 && html`<pre class="twin-errors" tabindex="0">${lines.map((line) => `${cut(line, MOST_CHARACTERS)}\n`)}</pre>`}`;
}

function card(result: TwinResult, textOf: TextOf): Markup {
  const { name, sentence, outcome } = result;
  if (outcome.kind !== 'parts') return html``;
  const { difference, picture } = outcome;
  return html`<article class="card" id="change-${name}" aria-labelledby="change-${name}/head"><header><h3 id="change-${name}/head"><code>${name}</code> the runs part</h3><p class="aside">${sentence}</p></header>
${outcomeSentences(result, textOf).map((each) => html`<p>${cutText(each, MOST_CHARACTERS)}</p>`)}
${picture !== undefined && pictureTable(picture, name, firstOf(difference))}</article>
`;
}

function folded(result: TwinResult, textOf: TextOf): Markup {
  const { name, outcome } = result;
  if (outcome.kind === 'sized')
    return html`<details id="change-${name}"><summary><h3><code>${name}</code></h3> <span class="aside">${headOf(outcome)}</span></summary>
${outcomeSentences(result, textOf).map((each) => html`<p>${cutText(each, MOST_CHARACTERS)}</p>`)}</details>
`;
  if (outcome.kind !== 'agree' || outcome.picture === undefined) return html``;
  return html`<details id="change-${name}"><summary><h3><code>${name}</code></h3> <span class="aside">${headOf(outcome)}</span></summary>
${pictureTable(outcome.picture, name)}</details>
`;
}

/** The cell of the picture that a difference is found at. */
function firstOf(difference: Difference): First | undefined {
  const { step } = difference;
  const whole = (row: keyof typeof WHOLE): First => {
    const [name, kind] = WHOLE[row];
    return { step, name, kind, whole: true };
  };
  const worst = (): string | undefined =>
    'tensors' in difference
      ? difference.tensors.toSorted((a, b) => b.relative - a.relative)[0]?.name
      : undefined;
  const tensor = (kind: First['kind'], name = worst()): First => ({
    step,
    name: name === undefined ? undefined : moduleOf(name),
    kind,
    whole: false,
  });
  switch (difference.what) {
    case 'start':
      return tensor('start');
    case 'logprobs':
      return difference.module === undefined
        ? whole('logprobs')
        : { step, name: difference.module, kind: 'output', whole: false };
    case 'gradients': {
      const { backward } = difference;
      return backward === undefined || backward.kind === 'nowhere'
        ? tensor('gradient', difference.begins)
        : { step, name: backward.module, kind: 'backward', whole: false };
    }
    case 'updates':
      return tensor('after');
    case 'finite':
      return tensor('gradient', difference.names[0]);
    case 'count':
      return undefined;
    default:
      return whole(difference.what);
  }
}

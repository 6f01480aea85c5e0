// Tabs in plain Markdown: `<!-- tabs: pip, npm -->` and behind it as many fenced blocks, which GitHub shows one below the
// other. Radio buttons, so that they work without a script; with one, the choice holds on every page.
import type { StateCore } from 'markdown-it';
import { html, raw } from '../../src/report/html/page/markup.ts';
import { codeBlock } from './code.ts';

const MARK = /^<!-- tabs: (.+) -->\s*$/;

/** Replaces each mark and its blocks by one token. A mark with too few blocks behind it stays, to be found. */
export function gatherTabs(state: StateCore): void {
  let groups = 0;
  for (let at = 0; at < state.tokens.length; at++) {
    const found = MARK.exec(state.tokens[at]?.content ?? '');
    const names = found?.[1]?.split(',').map((name) => name.trim()) ?? [];
    const blocks = state.tokens.slice(at + 1, at + 1 + names.length);
    if (names.length === 0 || blocks.some(({ type }) => type !== 'fence') || blocks.length < names.length)
      continue;
    groups++;
    const token = new state.Token('html_block', '', 0);
    token.content = tabs(
      groups,
      names.map((name, tab) => ({ name, text: blocks[tab]?.content ?? '', info: blocks[tab]?.info ?? '' })),
    );
    state.tokens.splice(at, 1 + names.length, token);
  }
}

interface Tab {
  readonly name: string;
  readonly text: string;
  readonly info: string;
}

function tabs(group: number, all: readonly Tab[]): string {
  const id = (name: string): string => `tab-${group}-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
  const choices = all.map(
    ({ name }, at) =>
      html`<input type="radio" name="tab-${group}" id="${id(name)}" value="${name}"${at === 0 && raw(' checked')}><label for="${id(name)}">${name}</label>`,
  );
  const panels = all.map(
    ({ name, text, info }) =>
      html`<div class="panel" data-tab="${name}">${raw(codeBlock(text, info, false))}</div>`,
  );
  return `${html`<div class="tabs"><fieldset><legend>By way of</legend>${choices}</fieldset>${panels}</div>`.markup}\n`;
}

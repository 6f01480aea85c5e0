// Markdown as the body of a page: headings have the ids that GitHub gives them, names of properties and bugs become
// links to their pages. Addresses stay as they are written; where they lead is known to the site.
import MarkdownIt, { type StateCore, type Token } from 'markdown-it';
import { codeBlock, inlineCode } from './code.ts';
import { gatherTabs } from './tabs.ts';

/** Address of the page of a property or bug, as seen from the page that is rendered; undefined: no link. */
export type Lookup = (name: string) => string | undefined;

export interface Rendered {
  /** Of the first heading, as plain text. */
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
}

export interface Heading {
  readonly id: string;
  /** 1 to 6. */
  readonly level: number;
  readonly text: string;
}

export function render(text: string, lookup: Lookup): Rendered {
  const markdown = new MarkdownIt({ html: true });
  markdown.core.ruler.push('heading-ids', (state) => nameHeadings(state));
  markdown.core.ruler.push('tabs', gatherTabs);
  markdown.core.ruler.push('names', (state) => linkNames(state, lookup));
  markdown.core.ruler.push('labels', (state) => labelCells(state));
  // What is wide scrolls by itself, with the keyboard as well.
  let tables = 0;
  markdown.renderer.rules.table_open = (all, at) => {
    tables++;
    const kind = all[at]?.attrGet('class') === 'cards' ? ' class="cards"' : '';
    return `<div class="wide" tabindex="0" role="region" aria-label="Table ${tables}"><table${kind}>
`;
  };
  markdown.renderer.rules.table_close = () => '</table></div>\n';
  markdown.renderer.rules.fence = (all, at) => codeBlock(all[at]?.content ?? '', all[at]?.info ?? '');
  markdown.renderer.rules.code_block = (all, at) => codeBlock(all[at]?.content ?? '', '');
  markdown.renderer.rules.code_inline = (all, at) => inlineCode(all[at]?.content ?? '');
  const tokens = markdown.parse(text, {});
  const headings = headingsOf(tokens);
  const html = markdown.renderer.render(tokens, markdown.options, {});
  // A heading that says nothing is none.
  return { title: headings[0]?.text ?? '', headings, html: html.replaceAll('<th></th>', '<td></td>') };
}

function headingsOf(tokens: readonly Token[]): Heading[] {
  return tokens.flatMap((token, at) =>
    token.type === 'heading_open'
      ? [
          {
            id: String(token.attrGet('id')),
            level: Number(token.tag.slice(1)),
            text: wordsOf(tokens[at + 1]),
          },
        ]
      : [],
  );
}

function wordsOf(inline: Token | undefined): string {
  return (inline?.children ?? []).map(({ content }) => content).join('');
}

/** As GitHub does: lower case, punctuation dropped, a dash for each space, -1, -2... for a name that is taken. */
function nameHeadings(state: StateCore): void {
  const taken = new Map<string, number>();
  for (const [at, token] of state.tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const slug = wordsOf(state.tokens[at + 1])
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-');
    const count = taken.get(slug) ?? 0;
    taken.set(slug, count + 1);
    token.attrSet('id', count === 0 ? slug : `${slug}-${count}`);
  }
}

/** Where there is no room for columns, a row stands as a card: each cell then says what column it is of. */
function labelCells(state: StateCore): void {
  let table: Token | undefined;
  let labels: string[] = [];
  let column = 0;
  for (const [at, token] of state.tokens.entries()) {
    if (token.type === 'table_open') [table, labels] = [token, []];
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'th_open') labels.push(wordsOf(state.tokens[at + 1]));
    if (token.type === 'thead_close' && labels.some((label) => label !== ''))
      table?.attrSet('class', 'cards');
    if (token.type !== 'td_open') continue;
    const label = labels[column++] ?? '';
    if (column > 1 && label !== '' && labels.length > 2) token.attrSet('data-label', label);
  }
}

/** `mask/...` in code, MSK-01 in text: links, outside of headings and of other links. */
function linkNames(state: StateCore, lookup: Lookup): void {
  for (const [at, token] of state.tokens.entries()) {
    if (token.type !== 'inline' || state.tokens[at - 1]?.type === 'heading_open') continue;
    let depth = 0;
    token.children = (token.children ?? []).flatMap((child) => {
      if (child.type === 'link_open') depth++;
      if (child.type === 'link_close') depth--;
      if (depth > 0) return [child];
      if (child.type === 'code_inline') {
        const address = lookup(child.content);
        return address === undefined ? [child] : linked(state, address, child);
      }
      return child.type === 'text' ? splitText(state, child, lookup) : [child];
    });
  }
}

const BUG = /\b([A-Z]{2,4}-\d\d)\b/;

function splitText(state: StateCore, token: Token, lookup: Lookup): Token[] {
  return token.content.split(BUG).flatMap((piece) => {
    const text = new state.Token('text', '', 0);
    text.content = piece;
    const address = BUG.test(piece) ? lookup(piece) : undefined;
    return address === undefined ? [text] : linked(state, address, text);
  });
}

function linked(state: StateCore, address: string, inner: Token): Token[] {
  const open = new state.Token('link_open', 'a', 1);
  open.attrSet('href', address);
  return [open, inner, new state.Token('link_close', 'a', -1)];
}

// The site in memory: every document of the repository and a page for each property and op, as HTML files that link to each
// other, and beside them what they show or link to and what the search looks through.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { bugs } from '../../src/bugs/index.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { palette } from '../docs/palette.ts';
import { READY } from '../trainers/ready.ts';
import { CONFORMANCE_FILE, conformancePages } from './conformance-pages.ts';
import { ADDRESS, isForeign } from './links.ts';
import { opNames } from './op-facts.ts';
import { OPS_FILE, opFile, opPage, opsPage } from './op-page.ts';
import { propertyFile, propertyPages } from './property-page.ts';
import { type Rendered, render } from './render.ts';
import { INDEX_FILE, indexFile, searchIndex } from './search-index.ts';
import { type NavigationGroup, SCRIPTS, STYLE_SHEET, STYLES, shell } from './shell.ts';

export interface Site {
  /** Path within the site to HTML. */
  readonly pages: ReadonlyMap<string, string>;
  /** Path within the site to what is written there. */
  readonly files: ReadonlyMap<string, string | Buffer>;
}

/** Paths from the root of the repository. What is not there yet is left out, what is not named here comes behind. */
const NAVIGATION: Readonly<Record<string, readonly string[]>> = {
  Begin: [
    'README.md',
    'README.zh.md',
    'docs/start.md',
    'docs/installation.md',
    'docs/discover.md',
    'docs/attach.md',
    'docs/trainers/README.md',
    ...READY.map(({ page }) => `docs/trainers/${page}`),
    CONFORMANCE_FILE,
    'docs/trainers/known.md',
    'docs/trainers/findings/README.md',
    'docs/failures.md',
    'docs/glossary.md',
  ],
  Use: [
    'docs/trace.md',
    'docs/parallel.md',
    'docs/ray.md',
    'docs/golden.md',
    'docs/mutate.md',
    'docs/monitor.md',
    'docs/twin.md',
    'docs/gap.md',
    'docs/view.md',
    'docs/pytest.md',
    'docs/notebook.md',
    'docs/library.md',
    'docs/agents.md',
    'docs/ci/README.md',
  ],
  Reference: [
    'docs/configuration.md',
    OPS_FILE,
    'docs/properties.md',
    'docs/relations.md',
    'docs/practice.md',
    'docs/bugs.md',
    'docs/detection.md',
    'docs/measurements.md',
    'docs/undeclared.md',
    'docs/security.md',
    'PROTOCOL.md',
  ],
  Project: ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
};
/** Documents that no group names. */
const OTHERS = 'Use';
/** But for these: their table leads to them. */
const REPORTS = 'docs/trainers/findings/';
/** In the navigation, where it is another one than the page's own. */
const TITLES: Readonly<Record<string, string>> = { 'README.md': 'Overview', 'README.zh.md': '概览（中文）' };
const PROTOCOL = 'PROTOCOL.md';

/** `README.zh.md`; what says nothing is English. */
function languageOf(file: string): { readonly language?: string } {
  return file.endsWith('.zh.md') ? { language: 'zh-CN' } : {};
}

export function buildSite(): Site {
  const texts = new Map(documents().map((file) => [file, readFileSync(join(PACKAGE_ROOT, file), 'utf8')]));
  const conformance = conformancePages();
  const generated = new Map([
    ...propertyPages(),
    ...conformance.pages,
    [OPS_FILE, opsPage()] as const,
    ...opNames.map((op) => [opFile(op), opPage(op)] as const),
  ]);
  for (const [file, text] of generated) texts.set(file, text);
  texts.set(PROTOCOL, withOpPages(texts.get(PROTOCOL) ?? ''));

  const copied = new Set<string>();
  const rendered = new Map<string, Rendered>();
  for (const [file, text] of texts) {
    const page = render(text, (name) => addressOfName(name, file, texts));
    rendered.set(file, { ...page, html: withAddresses(page.html, file, texts, copied) });
  }
  const groups = navigation(rendered, new Set(generated.keys()));
  const pages = [...rendered].map(([file, { title, html, headings }]) => {
    const path = outputOf(file);
    return [path, shell({ path, title, body: html, groups, headings, ...languageOf(file) })] as const;
  });
  const own = (name: string): string => readFileSync(join(PACKAGE_ROOT, 'scripts/site/page', name), 'utf8');
  return {
    pages: new Map(pages),
    files: new Map<string, string | Buffer>([
      [STYLE_SHEET, palette() + STYLES.map(own).join('\n')],
      [INDEX_FILE, indexFile(searchIndex(rendered, outputOf))],
      ...SCRIPTS.map((name) => [name, own(name)] as const),
      ...conformance.badges,
      ...[...copied].map((file) => [file, readFileSync(join(PACKAGE_ROOT, file))] as const),
    ]),
  };
}

/** Markdown of the root that the navigation names, and all of docs/. */
function documents(): string[] {
  const named = Object.values(NAVIGATION).flat();
  const below = readdirSync(join(PACKAGE_ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join('docs', file.replaceAll('\\', '/')))
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules/'))
    .sort();
  return [...new Set([...named, ...below])].filter((file) => existsSync(join(PACKAGE_ROOT, file)));
}

/** docs/start.md is docs/start.html, a README the index of its folder. */
function outputOf(file: string): string {
  return file.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html');
}

function navigation(
  rendered: ReadonlyMap<string, Rendered>,
  generated: ReadonlySet<string>,
): NavigationGroup[] {
  const named = new Set(Object.values(NAVIGATION).flat());
  const others = [...rendered.keys()].filter(
    (file) => !named.has(file) && !generated.has(file) && !file.startsWith(REPORTS),
  );
  return Object.entries(NAVIGATION).map(([title, files]) => ({
    title,
    items: [...files, ...(title === OTHERS ? others : [])].flatMap((file) => {
      const page = rendered.get(file);
      if (page === undefined) return [];
      return [{ path: outputOf(file), title: TITLES[file] ?? page.title, ...languageOf(file) }];
    }),
  }));
}

/** Each op's section of the protocol leads to its page, which this site alone has. */
function withOpPages(text: string): string {
  return text.replaceAll(/^### (\w+)\n/gm, (heading, op: string) =>
    opNames.some((name) => name === op)
      ? `${heading}\n[Properties, semantics and signature of \`${op}\`](${opFile(op)})\n`
      : heading,
  );
}

const BUG_IDS = new Set(bugs.map(({ id }) => id));
const BUG_PAGE = 'docs/bugs.md';

/** The page of a property or a bug from `file`, as Markdown would name it. */
function addressOfName(name: string, file: string, texts: ReadonlyMap<string, string>): string | undefined {
  const page = propertyFile(name);
  const target = texts.has(page) ? page : BUG_IDS.has(name) ? BUG_PAGE : undefined;
  if (target === undefined || target === file) return undefined;
  const address = posix.relative(posix.dirname(file), target);
  return target === BUG_PAGE ? `${address}#${name.toLowerCase()}` : address;
}

/** Addresses of the repository become those of the site; what they name and is no page is copied. Others stay, to be found dead. */
function withAddresses(
  html: string,
  file: string,
  texts: ReadonlyMap<string, string>,
  copied: Set<string>,
): string {
  const here = posix.dirname(file);
  return html.replaceAll(ADDRESS, (whole: string, attribute: string, address: string) => {
    if (isForeign(address) || address.startsWith('#') || address.startsWith('/')) return whole;
    const [path = '', anchor] = address.split('#');
    const named = posix.normalize(posix.join(here, decodeURI(path))).replace(/\/$/, '');
    const target = texts.has(posix.join(named, 'README.md')) ? posix.join(named, 'README.md') : named;
    const real = join(PACKAGE_ROOT, target);
    if (!texts.has(target)) {
      if (!existsSync(real) || !statSync(real).isFile() || target.startsWith('..')) return whole;
      copied.add(target);
    }
    const to = texts.has(target) ? outputOf(target) : target;
    const moved = encodeURI(posix.relative(posix.dirname(outputOf(file)), to));
    return `${attribute}="${moved}${anchor === undefined ? '' : `#${anchor}`}"`;
  });
}

// The site in memory: every document of the repository and a page for each property, as HTML files that link to each
// other, and beside them what they show or link to.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { properties } from '../../properties/index.ts';
import { bugs } from '../../src/bugs/index.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { listMutants } from '../../test/mutants/list.ts';
import { palette } from '../docs/palette.ts';
import { ADDRESS, isForeign } from './links.ts';
import { propertyFile, propertyPage } from './property-page.ts';
import { type Rendered, render } from './render.ts';
import { type NavigationGroup, STYLE_SHEET, shell } from './shell.ts';

export interface Site {
  /** Path within the site to HTML. */
  readonly pages: ReadonlyMap<string, string>;
  /** Path within the site to what is written there. */
  readonly files: ReadonlyMap<string, string | Buffer>;
}

/** Paths from the root of the repository. What is not there yet is left out, what is not named here comes behind. */
const NAVIGATION: Readonly<Record<string, readonly string[]>> = {
  Begin: ['README.md', 'docs/start.md', 'docs/attach.md', 'docs/failures.md', 'docs/glossary.md'],
  Use: [
    'docs/trace.md',
    'docs/parallel.md',
    'docs/ray.md',
    'docs/golden.md',
    'docs/monitor.md',
    'docs/view.md',
    'docs/library.md',
    'docs/ci/README.md',
  ],
  Reference: [
    'docs/configuration.md',
    'docs/properties.md',
    'docs/practice.md',
    'docs/bugs.md',
    'docs/undeclared.md',
    'PROTOCOL.md',
  ],
  Project: ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
};
/** Documents that no group names. */
const OTHERS = 'Use';
const START = 'README.md';

export function buildSite(): Site {
  const texts = new Map(documents().map((file) => [file, readFileSync(join(PACKAGE_ROOT, file), 'utf8')]));
  const mutants = listMutants();
  for (const property of properties)
    texts.set(propertyFile(property.id), propertyPage(property, properties, mutants));

  const copied = new Set<string>();
  const rendered = new Map<string, Rendered>();
  for (const [file, text] of texts) {
    const { title, html } = render(text, (name) => addressOfName(name, file, texts));
    rendered.set(file, { title, html: withAddresses(html, file, texts, copied) });
  }
  const groups = navigation(rendered);
  const pages = [...rendered].map(([file, { title, html }]) => {
    const path = outputOf(file);
    return [path, shell({ path, title, body: html, groups })] as const;
  });
  const style = palette() + readFileSync(join(PACKAGE_ROOT, 'scripts/site', STYLE_SHEET), 'utf8');
  return {
    pages: new Map(pages),
    files: new Map<string, string | Buffer>([
      [STYLE_SHEET, style],
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

function navigation(rendered: ReadonlyMap<string, Rendered>): NavigationGroup[] {
  const named = new Set(Object.values(NAVIGATION).flat());
  const others = [...rendered.keys()].filter(
    (file) => !named.has(file) && !properties.some(({ id }) => propertyFile(id) === file),
  );
  return Object.entries(NAVIGATION).map(([title, files]) => ({
    title,
    items: [...files, ...(title === OTHERS ? others : [])].flatMap((file) => {
      const page = rendered.get(file);
      if (page === undefined) return [];
      return [{ path: outputOf(file), title: file === START ? 'Overview' : page.title }];
    }),
  }));
}

const BUG_IDS = new Set(bugs.map(({ id }) => id));
const PROPERTY_IDS = new Set(properties.map(({ id }) => id));
const BUG_PAGE = 'docs/bugs.md';

/** The page of a property or a bug from `file`, as Markdown would name it. */
function addressOfName(name: string, file: string, texts: ReadonlyMap<string, string>): string | undefined {
  const target = PROPERTY_IDS.has(name) ? propertyFile(name) : BUG_IDS.has(name) ? BUG_PAGE : undefined;
  if (target === undefined || !texts.has(target) || target === file) return undefined;
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

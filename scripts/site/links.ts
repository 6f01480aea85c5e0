// Links that lead nowhere: of finished pages, every address that is not of the web must be a file of the site, and
// what stands behind its # an id in it. Works on text, so that a test can hand it a page with a dead one.
import { posix } from 'node:path';

/**
 * One sentence a dead link. `pages`: path within the site to HTML; `files`: paths of everything else that is there.
 * The site is opened from disk, so that an address which begins with a slash is dead as well.
 */
export function deadLinks(pages: ReadonlyMap<string, string>, files: ReadonlySet<string>): string[] {
  const ids = new Map([...pages].map(([path, html]) => [path, idsOf(html)]));
  return [...pages].flatMap(([path, html]) => {
    const complaints = doubles(ids.get(path) ?? []).map((id) => `${path}: two elements have the id "${id}"`);
    for (const address of addressesOf(html)) {
      const complaint = complaintOf(path, address, ids, files);
      if (complaint !== undefined) complaints.push(`${path}: "${address}" ${complaint}`);
    }
    return complaints;
  });
}

/** What `href`, `src` and `srcset` name, as written between the quotes, once each. */
function addressesOf(html: string): string[] {
  const all = [...html.matchAll(ADDRESS)].map(([, , address = '']) => address.replaceAll('&amp;', '&'));
  return [...new Set(all)];
}

/** Only text has quotes as entities, so that an attribute is never found in it. */
export const ADDRESS = /\b(href|src|srcset)="([^"]*)"/g;

/** Of the web, or inline. */
export function isForeign(address: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(address) || address.startsWith('//');
}

function complaintOf(
  from: string,
  address: string,
  ids: ReadonlyMap<string, readonly string[]>,
  files: ReadonlySet<string>,
): string | undefined {
  if (isForeign(address)) return undefined;
  if (address.startsWith('/')) return 'is an address of a server, and the site is opened from disk';
  const [file = '', anchor] = address.split('#');
  const target = file === '' ? from : posix.normalize(posix.join(posix.dirname(from), decodeURI(file)));
  const known = ids.get(target);
  if (known === undefined) {
    if (files.has(target)) return anchor === undefined ? undefined : 'names an id in a file that is no page';
    return 'is not there';
  }
  if (anchor === undefined || known.includes(decodeURIComponent(anchor))) return undefined;
  return `names no id of ${target}`;
}

function idsOf(html: string): string[] {
  return [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id);
}

function doubles(ids: readonly string[]): string[] {
  return [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))];
}

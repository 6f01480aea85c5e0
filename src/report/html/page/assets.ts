// The style sheets and scripts that every page carries in itself. They are files of the package and are read once, when
// the first page is made: a command that prints no page reads none.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../../version.ts';

export interface Assets {
  readonly css: Asset;
  readonly js: Asset;
  /** Of a served page, besides. */
  readonly live: Asset;
}

export interface Asset {
  readonly text: string;
  /** As a content security policy names it: `'sha256-...'`, of exactly what stands between the tags. */
  readonly hash: string;
}

/** Throws where the package is incomplete. */
export function assets(): Assets {
  read ??= {
    css: joined([
      'page/page.css',
      'failure/strip.css',
      'failure/card.css',
      'failure/labels.css',
      'trace/heat.css',
      'rows/carpet.css',
      'monitor/monitor.css',
      'mutate/mutate.css',
      'twin/twin.css',
      'gap/gap.css',
    ]),
    js: joined([
      'page/filter.js',
      'failure/card.js',
      'rows/packed.js',
      'rows/kept.js',
      'rows/carpet.js',
      'trace/heat.js',
      'monitor/plot.js',
      'mutate/mutate.js',
      'page/page.js',
      'page/framed.js',
    ]),
    live: joined(['run/live.js']),
  };
  return read;
}

let read: Assets | undefined;

function joined(names: readonly string[]): Asset {
  const text = names
    .map((name) => readFileSync(join(PACKAGE_ROOT, 'src/report/html', name), 'utf8').trim())
    .join('\n');
  return { text, hash: `'sha256-${createHash('sha256').update(text).digest('base64')}'` };
}

// The ready-made adapters by the page of docs/trainers that describes them: each folder of adapters has one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADAPTERS } from '../../src/cli/trainer/adapters.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

export interface Ready {
  /** In docs/trainers: `llama-factory.md`. */
  readonly page: string;
  readonly title: string;
  /** What `--adapter` takes. */
  readonly names: readonly string[];
  /** The package that they drive, as Python imports it. None where they drive a clone. */
  readonly library: string | undefined;
}

const folders = [...new Set(Object.values(ADAPTERS).map(({ folder }) => folder))];

/** In the order of their titles, published libraries first. */
export const READY: readonly Ready[] = folders
  .map((folder) => {
    const page = `${folder.replaceAll('_', '-')}.md`;
    const text = readFileSync(join(PACKAGE_ROOT, 'docs', 'trainers', page), 'utf8');
    const adapters = Object.entries(ADAPTERS).filter(([, adapter]) => adapter.folder === folder);
    return {
      page,
      title: /^# (.+)$/m.exec(text)?.[1] ?? folder,
      names: adapters.map(([name]) => name),
      library: adapters[0]?.[1].sources?.[0]?.split('.')[0],
    };
  })
  .sort(
    (a, b) =>
      Number(a.library === undefined) - Number(b.library === undefined) || a.title.localeCompare(b.title),
  );

/** The list of docs/trainers/README.md. */
export function withReady(text: string): string {
  const lines = READY.map(
    ({ page, title, names, library }) =>
      `- [${title}](${page})${library === undefined ? ', in a clone' : ''}: ${names.map((name) => `\`${name}\``).join(', ')}`,
  );
  return text.replace(
    /(<!-- ready: .* -->\n).*?(<!-- end of ready -->)/s,
    (_, begin: string, end: string) => `${begin}${lines.join('\n')}\n${end}`,
  );
}

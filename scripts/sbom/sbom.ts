// A software bill of materials of what is installed with the package (CycloneDX, as npm writes it, less what only we need),
// and its licences as a table. The lock file is all that is read: nothing is installed and nobody is asked.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { type LockFile, nameOf, production } from './production.ts';

interface Bom {
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly name: string;
    readonly version: string;
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const lock = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package-lock.json'), 'utf8')) as LockFile;
const wanted = [...production(lock)].map(([folder, locked]) => ({ ...locked, name: nameOf(folder) }));
const { stdout } = await execa('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  cwd: PACKAGE_ROOT,
});
const whole = JSON.parse(stdout) as Bom;
const components = whole.components.filter(({ name, version }) =>
  wanted.some((each) => each.name === name && each.version === version),
);
const missing = wanted.filter(
  ({ name, version }) => !components.some((each) => each.name === name && each.version === version),
);
if (missing.length > 0) throw new Error(`npm's bill lacks ${missing.map(({ name }) => name).join(', ')}`);
const refs = new Set(components.map((each) => each['bom-ref']));
const own = `lossproof@${lock.packages['']?.version ?? ''}`;
const bill = {
  ...whole,
  // npm names it after the folder that it lies in.
  metadata: { ...whole.metadata, component: { ...whole.metadata.component, name: 'lossproof' } },
  components,
  dependencies: whole.dependencies
    .filter(({ ref }) => ref === own || refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
};
const file = process.argv[2] ?? 'sbom.cdx.json';
writeFileSync(file, `${JSON.stringify(bill, undefined, 2)}\n`);
process.stdout.write(
  [
    '| package | version | licence |',
    '|---|---|---|',
    ...wanted.map(({ name, version, license }) => `| ${name} | ${version} | ${license ?? 'none said'} |`),
    '',
    `${components.length} packages in ${file}`,
    '',
  ].join('\n'),
);

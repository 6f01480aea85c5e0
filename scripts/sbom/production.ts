// What of the lock file is installed with the package: the closure of its dependencies, as npm would resolve them. npm's own
// `--omit dev` leaves out what a development tool needs, too.

export interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly lockfileVersion: number;
  /** By folder; the package itself is ''. */
  readonly packages: Readonly<Record<string, Locked>>;
}

/** By folder, in order. Throws where the lock file lacks one. */
export function production({ packages }: LockFile): ReadonlyMap<string, Locked> {
  const found = new Map<string, Locked>();
  const waiting = [''];
  for (let from = waiting.pop(); from !== undefined; from = waiting.pop()) {
    const { dependencies = {}, optionalDependencies = {} } = packages[from] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const folder = resolved(packages, from, name);
      const locked = folder === undefined ? undefined : packages[folder];
      if (folder === undefined || locked === undefined)
        throw new Error(
          `package-lock.json has no ${name}, which ${from === '' ? 'this package' : from} needs`,
        );
      if (found.has(folder)) continue;
      found.set(folder, locked);
      waiting.push(folder);
    }
  }
  return new Map([...found].sort(([left], [right]) => (left < right ? -1 : 1)));
}

export function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf(MODULES) + MODULES.length);
}

/** From the innermost folder outwards, as Node looks for it. */
function resolved(packages: LockFile['packages'], from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf(`/${MODULES}`)))) {
    const folder = at === '' ? `${MODULES}${name}` : `${at}/${MODULES}${name}`;
    if (packages[folder] !== undefined) return folder;
    if (at === '') return undefined;
    // Of the outermost folder nothing is left but the package itself.
    if (!at.includes(`/${MODULES}`)) at = '';
  }
}

const MODULES = 'node_modules/';

// Which properties a run is about: by id, folder or glob, and by level.
import type { Property } from '../../check/property.ts';
import { nearestName } from '../../protocol/nearest.ts';
import { LEVELS, type Level } from '../../vocabulary.ts';
import type { Problem } from '../context.ts';
import { fitsGlob } from '../glob.ts';

/**
 * `mask/*`, `mask`, `mask/prompt-is-never-trained`; several are joined. A level that is typed holds for all of them.
 * Where none is, the `usual` one holds, but for a property that is named by its whole id: who types that means it,
 * whatever its level is. A name that fits nothing is a problem.
 */
export function selectProperties<P extends Pick<Property, 'id' | 'level'>>(
  properties: readonly P[],
  only: readonly string[],
  level: Level | undefined,
  usual: Level = 'must',
): readonly P[] | Problem {
  for (const name of only) {
    if (!properties.some(({ id }) => fits(id, name))) return { problem: unknownProperty(name, properties) };
  }
  const most = LEVELS.indexOf(level ?? usual);
  const named = properties.filter(({ id }) => only.length === 0 || only.some((name) => fits(id, name)));
  const chosen = named.filter(
    (property) =>
      LEVELS.indexOf(property.level) <= most || (level === undefined && only.includes(property.id)),
  );
  if (chosen.length === 0) {
    const lowest = LEVELS.find((each) => named.some((property) => property.level === each)) ?? 'may';
    return {
      problem: `no property of ${only.join(', ')} is of level ${level ?? usual}; --level ${lowest} has some`,
    };
  }
  return chosen;
}

/** `a,b` and repeated options alike. */
export function splitNames(values: readonly string[]): string[] {
  return values
    .flatMap((value) => value.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function unknownProperty(name: string, properties: readonly Pick<Property, 'id'>[]): string {
  const ids = properties.map(({ id }) => id);
  const stages = [...new Set(ids.map((id) => id.split('/')[0] ?? id))];
  // A name without a stage may be either: "maks" is nearer to "mask" than to any whole id.
  const near = nearestName(name, name.includes('/') ? ids : stages) ?? nearestName(name, ids);
  const hint = near === undefined ? '`lossproof list` names them' : `did you mean "${near}"?`;
  return `no property is called "${name}", ${hint}`;
}

/** `id` is named by `name`: as it is, by its folder, or by a glob. */
export function fits(id: string, name: string): boolean {
  if (!name.includes('*')) return id === name || id.startsWith(`${name.replace(/\/$/, '')}/`);
  return fitsGlob(id, name);
}

// Which properties a run is about: by id, folder or glob, and by level.
import type { Property } from '../../check/property.ts';
import { nearestName } from '../../protocol/nearest.ts';
import { LEVELS, type Level } from '../../vocabulary.ts';
import type { Problem } from '../context.ts';

/**
 * `mask/*`, `mask`, `mask/prompt-is-never-trained`; several are joined. Without a level, named properties are
 * taken whatever theirs is, and all others are `must`. A name that fits nothing is a problem.
 */
export function selectProperties<P extends Pick<Property, 'id' | 'level'>>(
  properties: readonly P[],
  only: readonly string[],
  level: Level | undefined,
): readonly P[] | Problem {
  for (const name of only) {
    if (!properties.some(({ id }) => fits(id, name))) return { problem: unknownProperty(name, properties) };
  }
  const most = LEVELS.indexOf(level ?? (only.length > 0 ? 'may' : 'must'));
  const chosen = properties.filter(
    (property) =>
      LEVELS.indexOf(property.level) <= most &&
      (only.length === 0 || only.some((name) => fits(property.id, name))),
  );
  if (chosen.length === 0)
    return { problem: `no property is left at level ${level}; --level may has them all` };
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
  const pattern = name.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${pattern.join('.*')}$`).test(id);
}

// What is given to `discover` by option: ops, and packages to stub.
import { PROOFS } from '../../discover/ops.ts';
import { nearestName } from '../../protocol/nearest.ts';
import { splitNames } from '../check/select.ts';
import type { Problem } from '../context.ts';

/** Version 0.0.0, as `lossproof.testing` has it, where none is named. */
export function stubsOf(given: readonly string[] = []): ReadonlyMap<string, string> | Problem {
  const stubs = new Map<string, string>();
  for (const text of given) {
    const [name = '', version = '0.0.0', ...more] = text.split('=').filter((part) => part !== '');
    if (!/^[A-Za-z_]\w*$/.test(name) || more.length > 0)
      return { problem: `--stub: "${text}" is not NAME=VERSION, such as ray=2.40` };
    stubs.set(name, version);
  }
  return stubs;
}

export function onlyOf(
  given: readonly string[] | undefined,
): ReadonlySet<(typeof PROOFS)[number]['op']> | Problem | undefined {
  if (given === undefined) return undefined;
  const names = splitNames(given);
  const known = PROOFS.map(({ op }) => op as string);
  const strange = names.find((name) => !known.includes(name));
  if (strange === undefined) return new Set(PROOFS.map(({ op }) => op).filter((op) => names.includes(op)));
  const near = nearestName(strange, known);
  return {
    problem: `discover proposes no op "${strange}"${near === undefined ? '' : `, did you mean "${near}"?`}; it proposes ${known.join(', ')}`,
  };
}

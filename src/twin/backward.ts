// Where a backward pass goes wrong first: the smallest module at whose output the gradients of two runs agree, and at whose input
// they do not.
import { placeOf, type Side } from './run.ts';

export type BackwardPlace =
  | { readonly kind: 'module'; readonly module: string }
  /** No module has an output that agrees and an input that does not: it differs from here on. */
  | { readonly kind: 'from'; readonly module: string; readonly side: Side }
  /** They agree everywhere: those of the weights alone differ. */
  | { readonly kind: 'nowhere' };

/**
 * @param distances by place, in the order of the backward pass
 * @param explained as far as rounding may take a place apart
 */
export function backwardPlace(
  distances: ReadonlyMap<string, number>,
  explained: (place: string) => number,
): BackwardPlace | undefined {
  const apart = new Map([...distances].map(([place, distance]) => [place, distance > explained(place)]));
  const first = [...apart].find(([, differs]) => differs)?.[0];
  if (first === undefined) return apart.size === 0 ? undefined : { kind: 'nowhere' };
  const wrong = [...apart].flatMap(([place, differs]) => {
    const { side, module } = partsOf(place);
    return differs && side === 'input' && apart.get(placeOf('output', module)) === false ? [module] : [];
  });
  const inner = wrong.find((module) => !wrong.some((other) => isWithin(other, module)));
  return inner === undefined ? { kind: 'from', ...partsOf(first) } : { kind: 'module', module: inner };
}

// --- helpers ---

function partsOf(place: string): { readonly side: Side; readonly module: string } {
  const at = place.indexOf(' ');
  return { side: place.slice(0, at) === 'input' ? 'input' : 'output', module: place.slice(at + 1) };
}

/** The root has no name. */
const isWithin = (inner: string, outer: string): boolean =>
  inner !== outer && (outer === '' || inner.startsWith(`${outer}.`));

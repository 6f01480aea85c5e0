// Which entries of a large data set a row may be of, told by its text: to make ids of a hundred thousand conversations
// takes minutes, and a script trains a few of them in its first steps.
import type { Entry } from '../../view/read.ts';

export interface Finder {
  /** Indices of entries, ascending; an entry that the row is of is among them but for very odd texts. */
  candidates(text: string): readonly number[];
}

export function finderOf(dataset: readonly Entry[]): Finder {
  const byProbe = new Map<string, number[]>();
  const probes = dataset.map(({ value }) => probesOf(value));
  for (const [index, own] of probes.entries())
    for (const probe of own) {
      const known = byProbe.get(probe);
      if (known === undefined) byProbe.set(probe, [index]);
      else if (known.at(-1) !== index) known.push(index);
    }
  const tells = (probe: string): boolean => (byProbe.get(probe)?.length ?? 0) <= MOST_ALIKE;
  // Too short to be told by a probe, or all of it common: always looked at, as many as there is time for.
  const always = probes.flatMap((own, index) => (own.some(tells) ? [] : [index])).slice(0, MOST_ALWAYS);
  return {
    candidates(text) {
      const found = new Set(always);
      const whole = text.normalize('NFC');
      for (let at = 0; at + PROBE <= whole.length; at++) {
        const entries = byProbe.get(whole.slice(at, at + PROBE));
        if (entries !== undefined && entries.length <= MOST_ALIKE)
          for (const each of entries) found.add(each);
      }
      return [...found].sort((left, right) => left - right);
    },
  };
}

// --- helpers ---

/** Characters that a text is told by. */
const PROBE = 12;
/** A text that more entries have tells nothing: a system message, a greeting. */
const MOST_ALIKE = 64;
const MOST_ALWAYS = 500;
/** Texts of an entry that are probed: a conversation's first and last ones tell it. */
const MOST_TEXTS = 16;

/** Three places of each text: whichever end of the row is cut, and whatever the template drops, one is left. */
function probesOf(value: unknown): readonly string[] {
  const texts = textsOf(value);
  const most =
    texts.length <= MOST_TEXTS ? texts : [...texts.slice(0, MOST_TEXTS / 2), ...texts.slice(-MOST_TEXTS / 2)];
  return most.flatMap((each) => {
    const text = each.normalize('NFC').trim();
    if (text.length < PROBE) return [];
    const last = text.length - PROBE;
    return [0, last >> 1, last].map((at) => text.slice(at, at + PROBE));
  });
}

/** Every text in a row but the names of roles. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  // Ids are numbers, and have no text.
  if (Array.isArray(value)) return typeof value[0] === 'number' ? [] : value.flatMap(textsOf);
  return Object.values(value).flatMap(textsOf);
}

// Every place in the code that can ask, and what its question is answered by: read off the sources and the tables, so that a new
// question is one more site without anybody writing it down.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { neededOf } from '../../../src/check/needs.ts';
import { PRACTICE } from '../../../src/check/profile/practice.ts';
import { FORMULAS } from '../../../src/vocabulary.ts';
import type { Question } from './answered.ts';

export interface Site {
  /** For people: where it is asked, and what is. */
  readonly name: string;
  readonly asks: (question: Question) => boolean;
}

const ROOT = join(import.meta.dirname, '../../..');
/** `trace` and `monitor` ask of scripts and logs, which have no hello. */
const ELSEWHERE = ['ledger', 'monitor'];

const sources = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ELSEWHERE.includes(entry.name) ? [] : sources(path);
    return path.endsWith('.ts') ? [path] : [];
  });

/** A declaration in a literal, one made of its name, and a formula that may be the trainer's own. */
const LINES = [
  /answers: \[[`']"(?<item>\w+)": /g,
  /meantOr\(\w+(?:\.\w+)?, '(?<item>\w+)'/g,
  /answers: \[`\$\{declaration\('(?<item>\w+)'/g,
  /answersOf\(subject, '(?<formula>\w+)'/g,
];

const declares = (answer: string, item: string): boolean =>
  answer.startsWith(item.startsWith('own_formulas ') ? `"own_formulas": [` : `"${item}": `) &&
  (!item.startsWith('own_formulas ') || answer.includes(`"${item.split(' ')[1]}"`));

const inSources: readonly Site[] = ['src/check', 'properties'].flatMap(sources).flatMap((path) => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const items = LINES.flatMap((line) =>
    [...text.matchAll(line)].map(({ groups = {} }) => groups.item ?? `own_formulas ${groups.formula}`),
  );
  return [...new Set(items)].map((item) => ({
    name: `${path}: ${item}`,
    asks: ({ answers }: Question) => answers.some((answer) => declares(answer, item)),
  }));
});

const ofPractice: readonly Site[] = PRACTICE.filter(({ weight }) => weight === 'ask').map(
  ({ item, beyond, why }) => ({
    name: `practice: ${item} ${beyond}`,
    asks: ({ words }) => words.includes(why),
  }),
);

const ofFormulas: readonly Site[] = FORMULAS.filter((formula) => neededOf(formula).length > 0).map(
  (formula) => ({
    name: `no known formula: ${formula}`,
    asks: ({ words }) =>
      words.startsWith(`The answers of op \`${formula}\` follow none of the known formulas`),
  }),
);

const ofKnown: Site = {
  name: 'own_formulas, and a known formula',
  asks: ({ words }) => words.startsWith('own_formulas names'),
};

/**
 * Not among them: answers that follow none of the known ways throughout, where these are all that there are. No line says that such
 * a mixture is meant, and no correct trainer has one.
 */
export const SITES: readonly Site[] = [...inSources, ...ofPractice, ...ofFormulas, ofKnown];

// What `discover` found, for a terminal: bound functions with their variant, near misses with the finding's sentence, what a person
// must settle, what fits nothing, what could not be called.
import { relative } from 'node:path';
import { constants } from '../../discover/constants.ts';
import type { Candidate, Way } from '../../discover/dialogue.ts';
import { type Found, isBug, leftOutWords } from '../../discover/found.ts';
import { inventedItems } from '../../discover/invented.ts';
import { variantWords } from '../../discover/variant.ts';
import type { Semantics } from '../../vocabulary.ts';
import type { Paint } from '../text/paint.ts';
import { plural } from '../text/plural.ts';
import { pad, wrap } from '../text/visible.ts';

export interface TableOptions {
  readonly width: number;
  readonly paint: Paint;
  readonly cwd: string;
}

export function discoverLines(found: Found, { width, paint, cwd }: TableOptions): string[] {
  const place = ({ file, line }: Candidate): string => `${nearPath(cwd, file)}:${line}`;
  const block = (glyph: string, op: string, first: string, ...rest: readonly string[]): string[] => {
    const lines = rest.filter((text) => text !== '').flatMap((text) => wrap(text, width - INDENT.length));
    const [head = '', ...more] = wrap(first, width - INDENT.length);
    return [`${glyph} ${pad(op, OP_WIDTH)}${head}`, ...[...more, ...lines].map((line) => INDENT + line)];
  };
  const bound = found.bound.flatMap(
    ({ candidate, op, way, variant, others, failing, flaws, weaker, notes }) =>
      block(
        paint.blue('✓'),
        op,
        `${paint.bold(callOf(candidate, way))}  ${paint.dim(place(candidate))}`,
        [variantWords(variant), layoutWords(way)].filter((text) => text !== '').join(' · '),
        others.length === 0
          ? ''
          : `also ${others.map(({ call, variant: other }) => `${constants(way, call)} ${variantWords(other)}`).join('; ')}`,
        ...flaws.map((flaw) =>
          isBug(flaw)
            ? paint.orange(`✗ it has a bug: ${flaw.property}: ${flaw.sentence}`)
            : `? ${flaw.property}: ${flaw.sentence} If it is meant, declare ${(flaw.answers ?? []).join(' or ')}`,
        ),
        ...failing.map(({ call, broken }) =>
          paint.orange(
            `✗ with ${constants(way, call)} it does not hold: ${broken.property}: ${broken.sentence}`,
          ),
        ),
        ...way.assumes.map((text) => `assumed: ${text}`),
        madeUp(way, variant),
        way.unread.length === 0
          ? ''
          : paint.dim(
              `not looked at: ${way.unread.join(', ')} of what it returns, which no name says what it is`,
            ),
        ...weaker.map(({ property, sentence }) => `at level should: ${property}: ${sentence}`),
        ...notes.map((text) => paint.dim(`note: ${text}`)),
      ),
  );
  const misfits = found.misfits.flatMap(
    ({ candidate, op, way, broken, held, judged, variant, tried, instead }) =>
      block(
        paint.orange('✗'),
        op,
        `${paint.bold(callOf(candidate, way))}  ${paint.dim(place(candidate))}`,
        `${held} of ${judged} properties hold${variantWords(variant) === '' ? '' : `; ${variantWords(variant)}`}`,
        ...broken.slice(0, MOST_SENTENCES).map(({ property, sentence }) => `${property}: ${sentence}`),
        instead === undefined ? '' : `what holds is against its names: ${instead}`,
        ...way.assumes.map((text) => `assumed: ${text}`),
        ...(tried.length === 0 ? [] : [paint.dim('It fails under these assumptions, too:')]),
        ...tried.slice(0, MOST_ASSUMED).map((text) => paint.dim(`· ${text}`)),
      ),
  );
  const open = found.open.flatMap(({ candidate, op, ways, why }) =>
    block(
      '?',
      op,
      `${paint.bold(candidate.name)}  ${paint.dim(place(candidate))}`,
      why,
      ...ways.slice(0, MOST_SENTENCES).map((way) => callOf(candidate, way)),
    ),
  );
  const near = found.unfit.filter(({ nearest }) => nearest !== undefined && nearest.held > 0);
  const far = found.unfit.filter((each) => !near.includes(each));
  const said = (text: string): string[] => wrap(text, width);
  return [
    ...section(
      paint,
      'Bound: every property of level must that could be asked holds, or what does not is said',
      bound,
    ),
    ...section(paint, 'Nearly: the function answers, and this does not hold', misfits),
    ...section(paint, 'Open: it holds, and which is meant cannot be told', open),
    ...section(
      paint,
      'Fits nothing, and the op that it came nearest to',
      near.flatMap(({ candidate, nearest }) =>
        said(
          `· ${candidate.name}  ${place(candidate)}: ${nearest?.op}, ${nearest?.held} of ${nearest?.judged} properties`,
        ),
      ),
    ),
    ...section(
      paint,
      'Could not be called, or imported',
      [...grouped(found.uncalled)].flatMap(([why, candidates]) =>
        said(`– ${why}: ${namesOf(candidates, place, cwd)}`),
      ),
    ),
    ...section(
      paint,
      'Imported in part, for a statement failed',
      [...found.loaded].flatMap(([file, { leftOut }]) =>
        leftOut.length === 0 ? [] : said(`– ${nearPath(cwd, file)}, without ${leftOutWords({ leftOut })}`),
      ),
    ),
    ...section(
      paint,
      'Prints when it is called',
      found.printing.length === 0
        ? []
        : said(`– ${found.printing.map((each) => `${each.name} ${place(each)}`).join(', ')}`),
    ),
    ...section(
      paint,
      'Could not be read',
      found.files.flatMap(({ file, problem }) =>
        problem === undefined ? [] : said(`– ${nearPath(cwd, file)}: ${problem}`),
      ),
    ),
    ...(found.inHand === undefined
      ? []
      : [
          '',
          ...said(
            `Broken off while ${found.inHand.candidate.name} ${place(found.inHand.candidate)} was ${found.inHand.doing === 'called' ? 'looked at' : 'imported'}.`,
          ),
        ]),
    ...(far.length === 0
      ? []
      : [
          '',
          ...said(
            `${plural(far.length, 'function')} more ${far.length === 1 ? 'answers' : 'answer'} no op.`,
          ).map(paint.dim),
        ]),
  ];
}

/** `31 functions: 12 bound, 3 nearly, 1 open`. */
export function summaryLine({ bound, misfits, open, unfit, uncalled, left }: Found): string {
  const all = bound.length + misfits.length + open.length + unfit.length + uncalled.length + left;
  const parts = [
    `${bound.length} bound`,
    `${misfits.length} nearly`,
    `${open.length} open`,
    `${unfit.length} fit nothing`,
    `${uncalled.length} not called`,
    ...(left > 0 ? [`${left} had no turn`] : []),
  ];
  return `${plural(all, 'function')}: ${parts.join(', ')}`;
}

/** From the working directory where that is shorter. */
export function nearPath(cwd: string, file: string): string {
  const near = relative(cwd, file);
  return near === '' || near.length > file.length ? file : near;
}

const OP_WIDTH = 17;
const INDENT = ' '.repeat(OP_WIDTH + 2);
const MOST_SENTENCES = 3;
/** The others are in the JSON. */
const MOST_ASSUMED = 6;

function section(paint: Paint, title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', paint.bold(title), ...lines];
}

/** The call without the module: the place says which. */
function callOf({ name }: Candidate, way: Way): string {
  const at = way.call.indexOf(name);
  return at > 0 && /^\w+\.$/.test(way.call.slice(0, at)) ? way.call.slice(at) : way.call;
}

/** Measured of what was handed over alone: an adapter does not declare it. */
function madeUp(way: Way, variant: Semantics): string {
  const items = inventedItems(way, variant);
  if (items.length === 0) return '';
  const given = way.invented.map(([name, text]) => `${name}=${text}`).join(', ');
  return `made up, for nothing says it: ${given}; so ${items.join(', ')} ${items.length === 1 ? 'is' : 'are'} not written as semantics`;
}

function layoutWords({ layout }: Way): string {
  if (layout === null) return '';
  if (layout.span === 'completion') return 'completion columns';
  return layout.alignment === 'predictor' ? 'predictor-aligned' : '';
}

function grouped(uncalled: Found['uncalled']): Map<string, Candidate[]> {
  const found = new Map<string, Candidate[]>();
  for (const { candidate, why } of uncalled) found.set(why, [...(found.get(why) ?? []), candidate]);
  return found;
}

/** More are told by their files: one import that fails takes all functions of a project along. */
const MOST_NAMED = 12;

function namesOf(
  candidates: readonly Candidate[],
  place: (candidate: Candidate) => string,
  cwd: string,
): string {
  if (candidates.length <= MOST_NAMED)
    return candidates.map((each) => `${each.name} ${place(each)}`).join(', ');
  const files = new Map<string, number>();
  for (const { file } of candidates) files.set(file, (files.get(file) ?? 0) + 1);
  return [...files]
    .map(([file, count]) => `${plural(count, 'function')} of ${nearPath(cwd, file)}`)
    .join(', ');
}

// `init --from`: what `discover` found, with a question where several functions answer one op. Nobody at the terminal: the
// likeliest is taken, and said.
import { resolve } from 'node:path';
import { fitsOf, type Preferred } from '../../discover/adapter.ts';
import type { Fit, Found } from '../../discover/found.ts';
import { variantWords } from '../../discover/variant.ts';
import type { Op } from '../../protocol/message.ts';
import { quoted } from '../../report/failure/reproduce.ts';
import { harmless, wrap } from '../../report/text/visible.ts';
import { type Context, isProblem, refuse, say } from '../context.ts';
import { INTERRUPTED, NO_VERDICT } from '../exit.ts';
import { widthOfScreen } from '../screen.ts';
import { looksLikeScript } from '../start/at-hand.ts';
import { DEFAULT_GIGABYTES, DEFAULT_SECONDS, discovered, sayFound, type Written, write } from './discover.ts';

/** What was written, or an exit code. */
export async function writeFrom(
  paths: readonly string[],
  file: string,
  { force, python }: { readonly force: boolean; readonly python: string | undefined },
  context: Context,
): Promise<Written | number> {
  const options = {
    maxTime: DEFAULT_SECONDS,
    memory: DEFAULT_GIGABYTES,
    ...(python === undefined ? {} : { python }),
  };
  const done = await discovered(paths, options, context);
  if (isProblem(done)) return refuse(context, done);
  sayFound(done.found, context);
  if (done.interrupted) return INTERRUPTED;
  const written = write(done.found, file, paths, { force }, context, await preferredOf(done.found, context));
  if (written === undefined) {
    const script = paths.find((path) => looksLikeScript(resolve(context.cwd, path)));
    say(
      context,
      '',
      'Nothing was bound, so nothing was written: `npx lossproof init` writes an adapter to fill.',
      ...(script === undefined
        ? []
        : [
            ...wrap(
              harmless(`${script} looks like a training script. To judge what it trains:`),
              widthOfScreen(context),
            ),
            `  npx lossproof trace -- python ${quoted(script)}`,
          ]),
    );
    return NO_VERDICT;
  }
  return isProblem(written) ? refuse(context, written) : written;
}

async function preferredOf({ bound }: Found, context: Context): Promise<Preferred> {
  const preferred = new Map<Op, Fit>();
  const ops = [...new Set(bound.map(({ op }) => op))];
  const several = ops.map((op) => ({ op, fits: fitsOf(bound, op) })).filter(({ fits }) => fits.length > 1);
  if (several.length === 0) return preferred;
  for (const { op, fits } of several) {
    const lines = fits.map(
      ({ candidate, variant }, at) => `  ${at + 1}  ${candidate.name}  ${variantWords(variant)}`,
    );
    if (context.ask === undefined) {
      say(context, '', `Several answer \`${op}\`; taken is the first:`, ...lines);
      continue;
    }
    say(context, '', `Which one does your training call for \`${op}\`?`, ...lines);
    preferred.set(op, await chosenOf(fits, context.ask));
  }
  return preferred;
}

/** The first where nothing is typed; what is no number of theirs is asked again, for a while. */
async function chosenOf(fits: readonly Fit[], ask: NonNullable<Context['ask']>): Promise<Fit> {
  const [first] = fits;
  if (first === undefined) throw new Error('There is nothing to choose from.');
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const typed = (await ask(`number [1 to ${fits.length}, 1 if nothing]: `)).trim();
    const fit = typed === '' ? first : fits[Number(typed) - 1];
    if (fit !== undefined) return fit;
  }
  return first;
}

const MOST_TURNS = 3;

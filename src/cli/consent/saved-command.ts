// The command that stands in a saved case. Such files are committed and sent around, so it runs only if the user has typed or
// configured it in this folder before, or confirms it now.
import { onOneLine } from '../../outside/text.ts';
import { harmless } from '../../visible.ts';
import type { Context, Problem } from '../context.ts';
import { isTrustedCommand, rememberCommand } from './consent.ts';

/** Undefined: it may run. `from` names the file or the case. */
export async function refusedCommand(
  command: string,
  { from, trust }: { readonly from: string; readonly trust: boolean },
  context: Context,
): Promise<Problem | undefined> {
  if (isTrustedCommand(command, context)) return undefined;
  if (command.length > MOST_SHOWN)
    return {
      problem: `the command in ${from} has ${command.length.toLocaleString('en')} characters, too many to confirm; name your own trainer after --`,
    };
  const shown = `${from} asks for this command to be run: ${harmless(onOneLine(command, MOST_SHOWN))}`;
  if (trust || (await confirmed(shown, context))) {
    const kept = rememberCommand(command, context);
    const told = kept
      ? ''
      : '\nlossproof: this could not be remembered, since there is no state folder to write to';
    context.err.write(`lossproof: ${trust ? shown : 'confirmed'}${told}\n`);
    return undefined;
  }
  return {
    problem: `${shown}\nAdd --trust if you know who wrote it, or name your own trainer after --`,
  };
}

async function confirmed(shown: string, { ask }: Context): Promise<boolean> {
  if (ask === undefined) return false;
  return /^y(es)?$/i.test((await ask(`${shown}\nRun it in this folder, now and later? [y/N] `)).trim());
}

/** What is confirmed must be seen whole: the end of a longer command would be run unseen. */
const MOST_SHOWN = 1_000;

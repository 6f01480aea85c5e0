// A training script that was named where an adapter belongs: it has no answers, and what it trains is seen without any.
import { basename, resolve } from 'node:path';
import { readText } from '../../outside/file.ts';
import { quoted } from '../../report/failure/reproduce.ts';
import { joinCommand } from './words.ts';

/** Nobody writes a longer one by hand. */
const MOST_BYTES = 2 ** 20;

/** It trains, and nothing in it could answer: not the SDK, and not a loop over its input. */
const TRAINS = /\.backward\(|Trainer\(|\.train\(\)/;
const ANSWERS = /\blossproof\b|\bstdin\b|\binput\(/;

/** What to do instead, where the script of this command trains and answers nothing; of a command that did not say hello. */
export function trainingScriptAdvice(command: readonly string[], cwd: string): string | undefined {
  const script = command.find((word) => word.endsWith('.py'));
  if (script === undefined) return undefined;
  const text = readText(resolve(cwd, script), MOST_BYTES);
  if ('complaint' in text || !TRAINS.test(text.ok) || ANSWERS.test(text.ok)) return undefined;
  const name = quoted(basename(script));
  return `${name} looks like the training itself, not like an adapter: \`npx lossproof trace -- ${joinCommand(command)}\` reads off its gradient what it trains, without any adapter. To ask its functions, too: \`npx lossproof init\`.`;
}

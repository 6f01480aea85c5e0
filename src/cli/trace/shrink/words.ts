// A command that trains on a file, made to train on another one: wherever a word of it is that file's path.
import { resolve } from 'node:path';

export interface Pointed {
  readonly words: readonly string[];
  /** Some word was the path: the script is told there. */
  readonly named: boolean;
}

/** `--data train.jsonl` and `--data=train.jsonl`, however the path is written. */
export function pointedAt(command: readonly string[], file: string, other: string, cwd: string): Pointed {
  const meant = resolve(cwd, file);
  const words = command.map((word) => {
    if (resolve(cwd, word) === meant) return other;
    const equals = word.indexOf('=');
    if (equals > 0 && resolve(cwd, word.slice(equals + 1)) === meant)
      return word.slice(0, equals + 1) + other;
    return word;
  });
  return { words, named: words.some((word, at) => word !== command[at]) };
}

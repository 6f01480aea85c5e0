// A question to whoever sits at the terminal.
import { createInterface } from 'node:readline';
import { INTERRUPTED } from './exit.ts';
import { inert } from './inert.ts';

/** An end of the input is an answer without words; Ctrl-C ends the program. */
export function askAtTerminal(leave: (code: number) => void): (question: string) => Promise<string> {
  return (question) => {
    const asker = createInterface({ input: process.stdin, output: process.stdout });
    return new Promise((answer) => {
      asker.once('SIGINT', () => leave(INTERRUPTED));
      asker.once('close', () => answer(''));
      asker.question(inert(question, { isTty: true }), (text) => {
        answer(text);
        asker.close();
      });
    });
  };
}

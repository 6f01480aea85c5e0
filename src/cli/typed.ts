// How the user typed this program. Every text says `npx lossproof ...`, and options as the command has them; whoever came by pip has
// no npx, whoever came by pytest or a notebook other options, and reads what they can type. Done where text leaves us, for the screen
// and for pages alike: what a program reads stays as it is.

/** The door (src/python/lossproof_door) says here what was typed: `lossproof`, `.venv/bin/lossproof`, `python -m lossproof`. */
export const COMMAND = 'LOSSPROOF_COMMAND';
/** And here what an option is there: `--lossproof-{option}`, `{keyword}`. */
export const OPTION = 'LOSSPROOF_OPTION';

/** The text with commands, and hints at options, as this user types them. */
export function asTyped(
  text: string,
  typed: string | undefined = process.env[COMMAND],
  option: string | undefined = process.env[OPTION],
): string {
  return withOptions(withCommand(text, typed), option);
}

function withCommand(text: string, typed: string | undefined): string {
  if (typed === undefined || typed === '') return text;
  // What a shell needs quotes for would need other ones in HTML, JSON and XML.
  const plain = /^[\p{L}\p{N}_@%+=:,./ -]+$/u.test(typed) ? typed : 'lossproof';
  return text.replaceAll(/\bnpx lossproof\b/g, () => plain);
}

function withOptions(text: string, option: string | undefined): string {
  if (option === undefined || option === '') return text;
  return text.replaceAll(HINT, (_, name: string) =>
    option.replace('{option}', name).replace('{keyword}', name.replaceAll('-', '_')),
  );
}

/** Where a sentence, or a part of one, begins with it, or in parentheses. In a command it stands behind a word, and stays. */
const HINT = /(?<=["(]|[;:] )--(op-timeout|hello-timeout|trainer|level|strict)\b(?![-=])/g;

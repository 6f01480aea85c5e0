// How the user typed this program. Every text says `npx lossproof ...`; whoever came by pip has no npx, and reads what they can
// type. Done where text leaves us, for the screen and for pages alike: what a program reads stays as it is.

/** The door (src/python/lossproof_door) says here what was typed: `lossproof`, `.venv/bin/lossproof`, `python -m lossproof`. */
export const COMMAND = 'LOSSPROOF_COMMAND';

/** The text with commands as this user types them. */
export function asTyped(text: string, typed: string | undefined = process.env[COMMAND]): string {
  if (typed === undefined || typed === '') return text;
  // What a shell needs quotes for would need other ones in HTML, JSON and XML.
  const plain = /^[\p{L}\p{N}_@%+=:,./ -]+$/u.test(typed) ? typed : 'lossproof';
  return text.replaceAll(/\bnpx lossproof\b/g, () => plain);
}

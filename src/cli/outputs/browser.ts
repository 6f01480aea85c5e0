// Opens a page in the user's browser, with the system's own opener.
import { spawn } from 'node:child_process';
import type { Context } from '../context.ts';

/** Says so on stderr where it cannot, and is done: whoever asked has been told the address. */
export async function openInBrowser(address: string, context: Context): Promise<void> {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  // Other users of this machine may see the address among its processes: the page is no secret before them, it shows
  // what the terminal shows; the token keeps other web pages out.
  const child = spawn(opener, [address], { detached: true, stdio: 'ignore', env: context.env });
  const failed = await new Promise<Error | undefined>((resolve) => {
    child.once('error', resolve);
    child.once('spawn', () => resolve(undefined));
  });
  child.on('error', () => {});
  child.unref();
  if (failed !== undefined)
    context.err.write(
      `lossproof: no browser can be opened (${opener}: ${failed.message}); open ${address}\n`,
    );
}

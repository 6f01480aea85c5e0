// Opens a page in the user's browser, with the system's own opener.
import { spawn } from 'node:child_process';
import type { Context } from '../context.ts';

/** Says so on stderr where it cannot, and is done: whoever asked has been told the address. */
export async function openInBrowser(address: string, context: Context): Promise<void> {
  const [opener, ...words] = openerOn(process.platform);
  // Other users of this machine may see the address among its processes: the page is no secret before them, it shows
  // what the terminal shows; the token keeps other web pages out.
  const child = spawn(opener, [...words, address], {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    env: context.env,
  });
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

/** `start` of Windows is a word of its shell, which would read & in an address; this one is a program. */
export function openerOn(platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return platform === 'darwin' ? ['open'] : ['xdg-open'];
}

// `report` of pages: one page over those that other commands wrote.
import { dirname, relative, resolve, sep } from 'node:path';
import { readText } from '../../outside/file.ts';
import { type IndexedPage, indexPage, titleIn } from '../../report/html/page/index-page.ts';
import { plural } from '../../report/text/plural.ts';
import { type Context, isProblem, type Problem, refuse, say, sayDocument } from '../context.ts';
import { HOLDS } from '../exit.ts';
import { asTyped } from '../typed.ts';
import { STANDARD_OUTPUT } from './outputs.ts';
import { unwritable, writeWhole } from './written.ts';

export const isPage = (file: string): boolean => /\.html?$/i.test(file);

/** Writes the index of `files` to `into`, and gives the exit code. */
export function writeIndex(files: readonly string[], into: string, context: Context): number {
  const target = resolve(context.cwd, into);
  // A second run of the same command finds its own page among them.
  const others = files.filter((file) => resolve(context.cwd, file) !== target);
  if (others.length === 0)
    return refuse(context, { problem: `${into} is the index itself; name the pages to put in it` });
  const pages: IndexedPage[] = [];
  for (const file of others) {
    const read = indexed(file, target, context);
    if (isProblem(read)) return refuse(context, read);
    pages.push(read);
  }
  const document = asTyped(indexPage(pages));
  const lines = pages.map(({ file, title }) => `${file} · ${title}`);
  if (into === STANDARD_OUTPUT) {
    sayDocument(context, document);
    context.err.write(`${lines.join('\n')}\n`);
    return HOLDS;
  }
  const why = unwritable(target) ?? writeWhole(target, document);
  if (why !== undefined) return refuse(context, { problem: `--html: ${into} ${why}` });
  say(context, ...lines, `wrote ${into}, of ${plural(pages.length, 'page')}`);
  return HOLDS;
}

function indexed(file: string, target: string, { cwd }: Pick<Context, 'cwd'>): IndexedPage | Problem {
  if (!isPage(file)) return { problem: `${file} is not an HTML page; name only pages, or only runs` };
  const path = resolve(cwd, file);
  const text = readText(path);
  if ('complaint' in text) return { problem: `${file} cannot be read: ${text.complaint}` };
  const title = titleIn(text.ok);
  if (title === undefined)
    return { problem: `${file} was not written by lossproof; an index lists pages of --html` };
  const href = relative(dirname(target), path).split(sep).map(encodeURIComponent).join('/');
  return { href, file, title };
}

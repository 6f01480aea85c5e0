// Where failing cases are saved: a folder for each trainer.
import { createHash } from 'node:crypto';

/** Under the working directory. */
export const CASES_FOLDER = '.lossproof/cases';

/** Of one of several trainers: what one fails, another may hold, and would forget. */
export function casesFolder(name: string | undefined): string {
  return name === undefined ? CASES_FOLDER : `${CASES_FOLDER}/${folderName(name)}`;
}

/** A name as a folder; two names never have the same one. */
function folderName(name: string): string {
  if (/^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u.test(name) && name.length <= MOST_FOLDER) return name;
  const plain = name.replaceAll(/[^\p{L}\p{N}_.]+/gu, '-').replace(/^[-.]+/, '');
  const print = createHash('sha256').update(name).digest('hex').slice(0, 6);
  return `${plain.slice(0, MOST_FOLDER)}-${print}`;
}

/** File systems take 255 bytes, and paths are read. */
const MOST_FOLDER = 60;

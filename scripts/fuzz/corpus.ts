// What was found worth going on from: a file a reader, a line of base64 an input, each of which reached code that those before it had not.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';

const FOLDER = join(PACKAGE_ROOT, 'scripts', 'fuzz', 'corpus');
/** Bytes of one input that is kept: the repository is no place for more. */
const MOST = 4_096;

export function keptOf(reader: string): readonly Uint8Array[] {
  const file = fileOf(reader);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'latin1').split('\n').filter(Boolean);
  return lines.map((line) => new Uint8Array(Buffer.from(line, 'base64')));
}

export function keep(reader: string, bytes: Uint8Array): void {
  if (bytes.length > MOST) return;
  mkdirSync(FOLDER, { recursive: true });
  appendFileSync(fileOf(reader), `${Buffer.from(bytes).toString('base64')}\n`);
}

function fileOf(reader: string): string {
  return join(FOLDER, `${reader.replaceAll(/\W+/g, '-')}.txt`);
}

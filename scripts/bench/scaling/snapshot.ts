// What a heap snapshot holds of ours: V8's own data of code, which grow for as long as it goes on optimising, are not counted.
import { readFileSync, rmSync } from 'node:fs';

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly (readonly string[])[];
    };
  };
  readonly nodes: readonly number[];
}

/** Bytecode and machine code with feedback and deoptimisation data; lists of weak references; maps. */
const OF_V8 = ['code', 'hidden', 'object shape'];

/** In bytes. The file is removed. */
export function ownBytes(file: string): number {
  const { snapshot, nodes } = JSON.parse(readFileSync(file, 'utf8')) as Snapshot;
  rmSync(file);
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, size] = [fields.indexOf('type'), fields.indexOf('self_size')];
  let bytes = 0;
  for (let at = 0; at < nodes.length; at += fields.length)
    if (!OF_V8.includes(types[0]?.[nodes[at + type] ?? -1] ?? '')) bytes += nodes[at + size] ?? 0;
  return bytes;
}

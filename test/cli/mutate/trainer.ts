// A trainer of a few lines, with a change of each fate; and the one property that judges it.
import { DROPS_NOTHING, makeWorld, type World, type WorldOptions } from '../world.ts';

export const TRAINER = `import os

PLAIN = 7

def padded(rows, pad):
    width = max(len(row) for row in rows)
    return [row + [pad] * (width - len(row)) for row in rows]

def counted(rows):
    at = 0
    while at < len(rows):
        at += 1
    unused = 2
    alive = True
    if not alive:
        os._exit(3)
    return at

def spare(rows):
    return len(rows) - 1
`;

export const ADAPTER = `import lossproof
from trainer import counted, padded

def collate(input_ids, labels, pad_token_id):
    counted(input_ids)
    real = [[1] * len(row) for row in input_ids]
    return {"input_ids": padded(input_ids, pad_token_id), "attention_mask": padded(real, 0), "labels": padded(labels, -100)}

lossproof.serve(name="tiny", ops={"collate": collate})
`;

export function mutateWorld(options: WorldOptions = {}): World {
  const world = makeWorld([DROPS_NOTHING], options);
  world.write('trainer.py', TRAINER);
  world.write('adapter.py', ADAPTER);
  return world;
}

export const ARGUMENTS = ['mutate', '--seed', '1', '--cases', '10', '--workers', '2'];
export const COMMAND = ['--', 'python3', 'adapter.py'];

export interface Written {
  readonly changes: readonly {
    readonly line: number;
    readonly kind: string;
    readonly after: string;
    readonly outcome: string;
    readonly by?: string;
    readonly error?: boolean;
    readonly reason?: string;
    readonly answers?: string;
    readonly hints?: readonly string[];
  }[];
  readonly found: number;
  readonly unreached: number;
  readonly survive: number;
  readonly left: number;
  readonly interrupted: boolean;
}

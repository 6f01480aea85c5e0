// A project with a configuration of TRL, and a Python that answers for it as a test says.
import { chmodSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { makeWorld, type World } from '../world.ts';

export const MESSAGES = ['Hello there!', 'Yes.'].map((content) => ({
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content },
  ],
}));

export function projectOf(env: World['context']['env'] = {}): World {
  const world = makeWorld(undefined, { env });
  cpSync(familyFolder('qwen'), join(world.folder, 'model'), { recursive: true });
  world.write('rows.jsonl', MESSAGES.map((row) => JSON.stringify(row)).join('\n'));
  world.write(
    'train.yaml',
    [
      'model_name_or_path: model',
      'datasets: [{ path: json, data_files: rows.jsonl }]',
      'completion_only_loss: null',
      'max_length: 64',
    ].join('\n'),
  );
  return world;
}

/** A Python that runs these lines in place of what it is asked for; `asked` and `rows` are the request. */
export function fake(world: World, ...lines: readonly string[]): string {
  const file = world.write(
    'fake',
    [
      '#!/usr/bin/env python3',
      'import json, os, sys, time',
      'asked = json.loads(sys.stdin.readline())',
      'rows = [json.loads(line) for line in sys.stdin]',
      'def say(**answer): print(json.dumps(answer))',
      'def end(**settings): say(version="9.9", settings=settings, keys=["max_length"])',
      ...lines,
    ].join('\n'),
  );
  chmodSync(file, 0o755);
  return './fake';
}

// Hand-made results and strips for the report tests: what the engine would say of a mask shifted by one.
import type { Failure, PropertyFacts, PropertyResult, RunEvent } from '../../src/check/events.ts';
import type { Stage, Strip } from '../../src/check/property.ts';
import type { Role } from '../../src/vocabulary.ts';

export const REPLAY = {
  command: 'npx lossproof replay',
  adapter: 'python adapter.py',
  folder: '.lossproof/cases',
};

/** "What is the cap", generated " Paris" and a stop token; the mask begins one token early. */
export function maskStrip(): Strip {
  const words: readonly (readonly [string, number, Role])[] = [
    ['<pad>', 0, 'padding'],
    ['<s>', 1, 'prompt'],
    ['What', 1724, 'prompt'],
    [' is', 338, 'prompt'],
    [' the', 278, 'prompt'],
    [' cap', 2117, 'prompt'],
    [' Paris', 3681, 'completion'],
    ['</s>', 2, 'stop'],
  ];
  return {
    row: 1,
    tokens: words.map(([text, id, role]) => ({ text, id, role })),
    tracks: [
      { name: 'expected', cells: ['0', '0', '0', '0', '0', '0', '1', '1'] },
      { name: 'observed', cells: ['0', '0', '0', '0', '0', '1', '1', '0'] },
    ],
    marks: [5, 7],
  };
}

export function failure(more: Partial<Failure> = {}): Failure {
  return {
    caseId: '7f3a9c',
    finding: {
      kind: 'prompt trained',
      sentence: "Token 5 '␠cap' (id 2117) belongs to the prompt of row 1, but the mask trains on it.",
      strips: [maskStrip()],
    },
    given: { prompts: [[1724, 338]], completions: [[3681, 2]] },
    casesToFail: 17,
    outOf: 100,
    shrinks: 9,
    confirmed: 'deterministic',
    seed: 1836021,
    path: '17:3',
    lines: ['{"id":1,"op":"hello","args":{}}'],
    ...more,
  };
}

export function result(more: Partial<PropertyResult> = {}): PropertyResult {
  return {
    id: 'mask/prompt-is-never-trained',
    title: 'No token of a prompt is trained.',
    level: 'must',
    verdict: 'pass',
    cases: 100,
    rejected: 0,
    setAside: 0,
    labels: {},
    thin: [],
    fixed: [],
    milliseconds: 120,
    ...more,
  };
}

function factsOf(id: string): PropertyFacts {
  const [stage = 'mask'] = id.split('/');
  return {
    id,
    title: 'No token of a prompt is trained.',
    stage: stage as Stage,
    level: 'must',
    why: 'The model learns to ask.',
    catches: ['MSK-01'],
  };
}

export function runStart(properties: readonly string[]): RunEvent {
  return {
    type: 'run-start',
    seed: 1836021,
    cases: 100,
    hello: {
      protocol: 1,
      name: 'my-trainer',
      version: '0.4',
      runtime: 'python 3.11, torch 2.13',
      ops: { mask: {} },
    },
    command: 'python adapter.py',
    properties: properties.map(factsOf),
    version: '0.1.0',
  };
}

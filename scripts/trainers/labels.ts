// Which labels the cases have that a ready-made adapter's known failures fail on, and how many of those that hold have them: what a
// known failure may name as its `labels`, so that another bug of the same kind is not taken for it. Nothing is shrunk, and what is
// known is not used. Exit code 1 where a case fails that lacks a label which is named already: a false alarm in waiting.
//   npm run trainers:labels -- verl --python .venv-verl/bin/python [--cases 300] [--seed 1] [--only tokenize/answer-is-trained]
// Settings of an adapter are the environment's, as in `check`.
import { parseArgs } from 'node:util';
import { properties } from '../../properties/index.ts';
import { drawCases, drawSeed } from '../../src/check/cases.ts';
import { knownOf, readCauses } from '../../src/check/saved/causes.ts';
import { type KnownFailure, kindOf } from '../../src/check/saved/known.ts';
import { type CaseOutcome, runCase } from '../../src/check/subject.ts';
import { ADAPTERS, knownFailuresOf } from '../../src/cli/trainer/adapters.ts';
import {
  loadTokenizer,
  type Property,
  startTrainer,
  type Trainer,
  type World,
  worldOf,
} from '../../src/index.ts';
import { pythonEnvironment } from '../python.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: 'string', default: 'python3' },
    cases: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});
const [adapter = ''] = positionals;
const KNOWN = knownFailuresOf(adapter);
const module = ADAPTERS[adapter]?.module;
if (KNOWN === undefined || module === undefined) throw new Error(`"${adapter}" has no known failures`);

const read = readCauses(KNOWN);
if ('problem' in read) throw new Error(read.problem);
const started = await startTrainer({ command: [values.python, '-m', module], env: pythonEnvironment() });
if ('failure' in started) throw new Error(started.failure.message);
const { trainer } = started;
try {
  const { tokenizer } = trainer.hello;
  const loaded = tokenizer === undefined ? undefined : loadTokenizer(tokenizer);
  const world = worldOf(
    trainer,
    loaded !== undefined && 'tokenizer' in loaded ? loaded.tokenizer : undefined,
  );
  for (const [id, known] of Object.entries(knownOf(read.causes, trainer.hello, process.env))) {
    const property = properties.find((each) => each.id === id);
    if (property === undefined || !id.includes(values.only)) continue;
    if (property.labels === undefined) console.log(`${id}: it has no labels`);
    else await tell(property, known, trainer, world);
  }
} finally {
  await trainer.stop();
}

interface Seen {
  readonly labels: ReadonlySet<string>;
  readonly outcome: CaseOutcome;
}

async function tell(property: Property, known: KnownFailure, asked: Trainer, world: World): Promise<void> {
  const lacks = property.needs?.map((need) => need(world)).find((reason) => reason !== undefined);
  if (lacks !== undefined) return console.log(`${property.id}: ${lacks}`);
  const cases = drawCases(
    property.given(world),
    drawSeed(Number(values.seed), property),
    Number(values.cases),
  );
  const seen: Seen[] = [];
  for (let at = 0; at < cases.count; at++) {
    const given = cases.next();
    const outcome = await runCase(property, asked, world, given);
    if (outcome.kind !== 'refused') seen.push({ labels: new Set(property.labels?.(given, world)), outcome });
  }
  const holding = seen.filter(({ outcome }) => outcome.kind === 'holds');
  const kinds = new Map<string, Seen[]>();
  for (const each of seen) {
    const { outcome } = each;
    if (outcome.kind !== 'fails' && outcome.kind !== 'error') continue;
    const kind = kindOf(outcome.kind === 'error' ? { trainerFailure: outcome.failure } : outcome);
    kinds.set(kind, [...(kinds.get(kind) ?? []), each]);
  }
  if (kinds.size === 0)
    console.log(`${property.id}: none of ${cases.count} cases fails, ${holding.length} hold`);
  for (const [kind, failing] of kinds) {
    const shared = [...(failing[0]?.labels ?? [])]
      .filter((label) => failing.every(({ labels }) => labels.has(label)))
      .map((label) => `${label} (${holding.filter(({ labels }) => labels.has(label)).length})`);
    console.log(
      `${property.id}, "${kind}": ${failing.length} fail, ${holding.length} hold; all that fail have ${shared.join(', ') || 'nothing in common'} (so many that hold)`,
    );
    const causes = (known.causes ?? [known]).filter(
      (cause) => cause.kind === undefined || [cause.kind, ...(cause.kinds ?? [])].includes(kind),
    );
    const strange = failing.filter(
      ({ labels }) => !causes.some((cause) => (cause.labels ?? []).every((label) => labels.has(label))),
    );
    if (causes.length === 0) console.log('  this kind is not known');
    else if (strange.length > 0) {
      console.log(`  ! ${strange.length} lack the labels that are named`);
      process.exitCode = 1;
    }
  }
}

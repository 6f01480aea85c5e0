// The names that completion knows beforehand: ids of properties, rules, golden cases and bugs, adapters, presets.

import { properties } from '../../properties/index.ts';
import { ledgerProperties } from '../../properties/ledger/index.ts';
import { monitorRules } from '../../properties/monitor/index.ts';
import { bugs } from '../../src/bugs/index.ts';
import type { Lists, Names } from '../../src/cli/completion/table.ts';
import { ADAPTERS } from '../../src/cli/trainer/trainer.ts';
import { goldenCases } from '../../src/golden/cases/index.ts';
import { PRESETS } from '../../src/monitor/presets/presets.ts';

export function lists(): Lists {
  const asked = titled(properties);
  const traced = titled(ledgerProperties);
  const rules = titled(monitorRules);
  return {
    properties: asked,
    traced,
    rules,
    golden: Object.fromEntries(goldenCases.map(({ id }) => [id, ''])),
    every: { ...asked, ...traced, ...rules, ...Object.fromEntries(bugs.map(({ id, what }) => [id, what])) },
    adapters: Object.fromEntries(Object.keys(ADAPTERS).map((name) => [name, ''])),
    presets: Object.fromEntries(PRESETS.map(({ name, title }) => [name, title])),
  };
}

function titled(each: readonly { readonly id: string; readonly title: string }[]): Names {
  return Object.fromEntries(each.map(({ id, title }) => [id, title]));
}

// docs/config.schema.json as text, from the table of keys: what an editor needs to complete and check a configuration.
import type { ConfigKey } from '../../src/cli/config/key.ts';
import { CONFIG_KEYS } from '../../src/cli/config/keys.ts';
import { EXCLUSIVE } from '../../src/cli/config/trainer-keys.ts';
import type { JsonSchema } from '../../src/protocol/rules.ts';

export function configSchema(): string {
  const schema = {
    // Not a later draft: this is the one that editors know whole.
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'lossproof.config.json',
    description: 'What lossproof would otherwise be told at every run: docs/configuration.md.',
    ...trainerOf(CONFIG_KEYS),
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

/** What may name one trainer in one way only. */
function trainerOf(keys: Readonly<Record<string, ConfigKey>>): JsonSchema {
  return { ...objectOf(keys), not: { required: EXCLUSIVE.keys } };
}

function objectOf(keys: Readonly<Record<string, ConfigKey>>): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, schemaOf(key)])),
    additionalProperties: false,
  };
}

function schemaOf(key: ConfigKey): JsonSchema {
  return {
    description: key.description,
    ...(key.default === undefined ? {} : { default: key.default }),
    examples: [key.example],
    ...(key.keys === undefined ? key.rule.schema : objectOf(key.keys)),
    ...(key.each === undefined ? {} : { additionalProperties: trainerOf(key.each) }),
  };
}

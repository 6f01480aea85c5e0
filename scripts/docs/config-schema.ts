// docs/config.schema.json as text, from the table of keys: what an editor needs to complete and check a configuration.
import { CONFIG_KEYS, type ConfigKey, EXCLUSIVE } from '../../src/cli/config/keys.ts';
import type { JsonSchema } from '../../src/protocol/rules.ts';

export function configSchema(): string {
  const schema = {
    // Not a later draft: this is the one that editors know whole.
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'lossproof.config.json',
    description: 'What lossproof would otherwise be told at every run: docs/configuration.md.',
    ...objectOf(CONFIG_KEYS),
    not: { required: EXCLUSIVE.keys },
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
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
  };
}

// Which chat template axolotl renders with: the data set's own, the file's, or the tokenizer's. Source:
// axolotl/utils/chat_templates/base.py and load_tokenizer.
import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';

/** `tokenizer`: the tokenizer's own. */
export type Named = { readonly name: string } | { readonly jinja: string };

/** Marks around each message, and nothing else. */
export const CHATML =
  "{% for m in messages %}{{ '<|im_start|>' ~ m.role ~ '\\n' ~ m.content ~ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

export function templateNamed(values: JsonObject, entry: JsonObject): Named {
  const own = chosen(entry);
  const outer = chosen(values);
  // The file's template becomes the tokenizer's.
  return own === undefined || isDefault(own)
    ? outer === undefined || isDefault(outer)
      ? { name: 'tokenizer' }
      : outer
    : own;
}

// --- helpers ---

function chosen(given: JsonObject): Named | undefined {
  if (!isJsonObject(given)) return undefined;
  const { chat_template: name, chat_template_jinja: jinja } = given;
  if (typeof jinja === 'string' && (name === 'jinja' || name === undefined || name === null))
    return { jinja };
  return typeof name === 'string' ? { name } : undefined;
}

/** With a fallback, the tokenizer's own comes first. */
const isDefault = (named: Named): boolean => 'name' in named && named.name === 'tokenizer_default';

// Rows that say which of them is the prompt. TRL tokenises it by itself, counts, and leaves that many tokens of the
// whole untrained: it does so for text and messages, for supervised rows and preferences. Where the prompt's own
// tokens are not those that the row begins with, the count is off, and that is what would be trained.
import { tokenText } from '../tokenizers/text.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Ids } from '../vocabulary.ts';
import type { Fault } from './flags.ts';
import type { TokenRow } from './row.ts';

/** The row with as many tokens untrained as the prompt has by itself. */
export function withoutPrompt(
  row: TokenRow,
  prompt: Ids,
  tokenizer: Tokenizer,
): { readonly row: TokenRow; readonly faults: readonly Fault[] } {
  const made = {
    ...row,
    trained: row.trained.map((trained, at) => trained && at >= prompt.length),
    // The count decides of them, too.
    straddles: [],
  };
  const other = prompt.findIndex((id, at) => id !== row.ids[at]);
  if (other < 0) return { row: made, faults: [] };
  const own = tokenText(tokenizer, prompt[other] ?? -1);
  const inRow = tokenText(tokenizer, row.ids[other] ?? -1);
  const lost = made.roles.findIndex((role, at) => role === 'completion' && at < prompt.length);
  const cost =
    lost < 0 ? '' : `, and so '${tokenText(tokenizer, row.ids[lost] ?? -1)}' of the answer is not trained`;
  return {
    row: made,
    faults: [
      {
        id: 'prompt-is-no-prefix',
        sentence: `Token ${other} is '${own}' of the prompt by itself and '${inRow}' of the row. The prompt counts ${prompt.length}${cost}.`,
        columns: [lost < 0 ? other : lost],
      },
    ],
  };
}

// What can be wrong with a row, each with a sentence and what to do. Only what is certain of a row is flagged; what may
// be on purpose is a note, and a note alone does not fail.

export const FLAGS = {
  unread: {
    what: 'The row cannot be read.',
    todo: 'Write each row as one JSON object in one of the shapes that `lossproof view --help` lists.',
  },
  'too-long': {
    what: 'The row is too long to be looked at: nothing of it was judged.',
    todo: 'Cut such rows as the trainer will, or leave them out, before they are looked at.',
  },
  'left-out': {
    what: 'The trainer leaves the row out.',
    todo: 'Write the row as the trainer reads it, or correct what the configuration says about its columns and roles.',
  },
  refused: {
    what: 'The chat template refuses the conversation.',
    todo: 'Give the conversation the order of roles that the template wants, or the template this order.',
  },
  unplaced: {
    what: 'The answers cannot be found in what the template renders.',
    todo: 'Mark the answers in the template with {% generation %} and {% endgeneration %}.',
  },
  'nothing-trained': {
    what: 'No token of the row is trained.',
    todo: 'Leave the row out, or look at what makes the mask: a header that is not found, or a row cut before its answer.',
    catches: ['TRN-04', 'TPL-09'],
  },
  'answers-untrained': {
    what: 'Tokens are trained, and no word of any answer is.',
    todo: 'Look at what makes the mask: it finds where answers begin or end, and leaves out what is between.',
    catches: ['MSK-09'],
  },
  'stop-untrained': {
    what: 'An answer is trained, and the stop token that ends it is not.',
    todo: 'Let the mask reach through the stop token. Where padding and stop share an id, mask padding by attention_mask, not by id.',
    catches: ['EOS-01', 'EOS-09'],
  },
  'no-stop': {
    what: 'No stop token ends the answer.',
    todo: 'Let the template write the stop token after each answer, and name the same one in eos_token.',
    catches: ['EOS-07'],
  },
  truncated: {
    what: 'The row ends within an answer.',
    todo: 'Raise the length limit, or leave such rows out: the model learns to break off. If rows are packed to a fixed length, the next one may go on.',
  },
  'double-bos': {
    what: 'The row, or a text in it, begins with two BOS tokens.',
    todo: 'Tokenise rendered text with add_special_tokens=False, or take BOS out of the template or the text.',
    catches: ['TOK-01', 'TOK-02'],
  },
  'prompt-trained': {
    what: 'Tokens of a user, system or tool message are trained.',
    todo: 'Mask all that the model does not write itself, in earlier turns as well.',
    catches: ['MSK-01', 'MSK-02', 'MSK-05', 'MSK-09'],
  },
  'everything-trained': {
    what: 'Every token is trained, those of user, system and tool messages as well.',
    todo: 'Mask all that the model does not write itself. If it is meant, as in pre-training, say so: --train-on all.',
    catches: ['MSK-01'],
  },
  'not-as-declared': {
    what: 'The labels or the mask of the row are not what --train-on says.',
    todo: 'Look at the code that writes them, or correct --train-on.',
    catches: ['MSK-09'],
  },
  'text-train-flag': {
    what: 'A train flag is a text that spells no, and Python takes every text for true.',
    todo: 'Write false or 0 without quotes. The message is shown as trained.',
    catches: ['MSK-17'],
  },
  'not-as-flagged': {
    what: 'The labels or the mask of the row are not what the train flags of its messages say.',
    todo: 'Look at the code that makes labels of the messages: it ignores the flags, or takes one for another message.',
    catches: ['MSK-17'],
  },
  'answer-begins-late': {
    what: 'The first token of an answer is not trained, the rest is.',
    todo: 'Look for a mask or labels that were shifted by one: labels are token-aligned in the data, the loss shifts them.',
    catches: ['MSK-04'],
  },
  'label-is-another-token': {
    what: 'A label is neither its own token nor -100.',
    todo: 'Write labels as a copy of input_ids with -100 where nothing is trained; the loss shifts them, the data must not.',
  },
  'padding-trained': {
    what: 'Padding is trained.',
    todo: 'Set labels to -100, and masks to 0, where attention_mask is 0.',
    catches: ['MSK-06'],
  },
  'placeholder-trained': {
    what: 'Placeholders of an image, a video or sound are trained.',
    todo: 'Set labels to -100 where input_ids is the placeholder, after the processor has repeated it.',
    catches: ['MSK-18'],
  },
  'unknown-role': {
    what: 'A message has a role that chat templates do not know.',
    todo: 'Use system, user, assistant and tool (conversations: system, human, gpt, tool).',
  },
  'message-dropped': {
    what: 'The template does not print a message.',
    todo: 'Use a template that has this role and tool calls, or put the text where the template prints it.',
  },
  'content-changed': {
    what: 'The template prints a content in part, or otherwise than it is.',
    todo: 'Look at what the template does with the content: a slice, split, replace or lower. No model learns the part that is left out.',
  },
  'content-list': {
    what: 'A content is a list of parts, and the template takes it for a text.',
    todo: 'Write contents that are all text as plain text, or use the template of a model that sees images. In Python the template fails here, or prints the list.',
  },
  'control-text': {
    what: 'A content spells a token that the template uses to part turns.',
    todo: 'Take it out of the content, or tokenise contents with their special tokens split.',
  },
  'empty-answer': {
    what: 'An answer is empty.',
    todo: 'Leave the row out: it teaches to stop at once.',
  },
  'blank-answer': {
    what: 'An answer is nothing but white space.',
    todo: 'Leave the row out: it teaches to stop at once.',
  },
  'escaped-arguments': {
    what: 'The arguments of a tool call are printed as a quoted text.',
    todo: 'Write them as an object: the model learns JSON within JSON.',
  },
  'id-outside-vocabulary': {
    what: 'An id is not of this vocabulary.',
    todo: 'Use the tokenizer that the ids were made with.',
  },
  'unknown-stop': {
    what: 'An answer ends with the unknown token instead of its stop token.',
    todo: 'Look for the name of the stop token in the vocabulary: convert_tokens_to_ids answers with the unknown token for a name that is not there.',
    catches: ['EOS-14'],
  },
  'positions-jump': {
    what: 'A position neither follows the one before nor begins anew.',
    todo: 'Count positions within each text of the row: 0, 1, 2, and so on, again from 0 where the next one begins.',
  },
  'content-no-text': {
    what: 'A content is a number or another value that is no text.',
    todo: 'Write it as text. Some templates fail on it, others print it, and others leave it out.',
  },
  'lengths-differ': {
    what: 'Labels or mask have another length than input_ids.',
    todo: 'Cut and pad them together with input_ids.',
    catches: ['MSK-11', 'TRN-05'],
  },
} as const satisfies Readonly<Record<string, FlagText>>;

export const NOTES = {
  straddles: {
    what: 'A token is part prompt, part answer.',
    todo: 'It is shown as trained; trainers differ. End the header with a token that nothing merges with, or strip the answer.',
    catches: ['TOK-05'],
  },
  'prompt-is-no-prefix': {
    what: 'The prompt by itself has other tokens than the row begins with.',
    todo: 'As many tokens as it has by itself are not trained, as TRL counts them, and so a piece of the answer may be lost. Move white space from the end of the prompt to the beginning of the completion.',
    catches: ['TOK-05'],
  },
  'turns-in-text': {
    what: 'A text is a rendered conversation, and every token of it is trained, the user’s as well.',
    todo: '--train-on all says that this is meant; --train-on assistant shows the row with its answers trained.',
  },
  duplicate: {
    what: 'The row is the same as an earlier one.',
    todo: 'Leave it out, unless it is meant to count twice.',
  },
  'pair-of-one': {
    what: 'Chosen and rejected are the same tokens.',
    todo: 'Leave the pair out: its loss has no gradient. If they differ beyond the length limit, raise it.',
  },
  'roles-swapped': {
    what: 'The conversation begins with an answer and ends with a question.',
    todo: 'Look whether user and assistant are named the wrong way round: the questions are what is trained then.',
    catches: ['MSK-05'],
  },
  'turns-alike': {
    what: 'The template opens the turns of the user and of the assistant alike.',
    todo: 'Write the role of each message into its header: the model cannot tell who speaks.',
  },
  'other-generation-prompt': {
    what: 'The prompt that the model is given to answer opens the answer otherwise than the row does.',
    todo: 'Let add_generation_prompt write what the template writes before the content of an answer: else the model is sampled from another prompt than it was trained on.',
    catches: ['TPL-06'],
  },
  'thought-dropped': {
    what: 'The template does not print the thought of the last answer.',
    todo: 'Use a template that prints reasoning_content, or put the thought into the content as the model writes it.',
    catches: ['TPL-03'],
  },
  'token-without-id': {
    what: 'The configuration of the tokenizer names a special token that has no id.',
    todo: 'Correct the name, or add the token, resize the embedding of the model, and save both.',
  },
  'id-outside-embedding': {
    what: 'An id is beyond the embedding of the model that lies beside the tokenizer.',
    todo: 'The script must call model.resize_token_embeddings(len(tokenizer)) before it trains, and train the new rows.',
  },
  'odd-train-flag': {
    what: 'A train flag has a value that trainers read differently.',
    todo: 'Write true or false (weight: 1 or 0), or leave the flag out. null is the default for axolotl, and not trained for code such as message.get("train", True).',
  },
  'prompt-flagged': {
    what: 'A message that the model does not write says that it is trained.',
    todo: 'It is shown as not trained. axolotl trains it, most trainers do not: leave the flag out, or write false.',
  },
  'no-train-flags': {
    what: 'The conversation has no train flags, others of the data set have.',
    todo: 'Its answers are shown as trained, by the convention. Write the flags in every row if that is not meant.',
  },
  'template-trained': {
    what: 'Marks that the template writes around messages of others, or in front of an answer, are trained.',
    todo: 'The model does not write them by itself. Some trainers train them (axolotl with train_on_eos: all): leave them out if that is not meant.',
  },
  'positions-begin-late': {
    what: 'The positions of the row do not begin with 0.',
    todo: 'Leave position_ids out, or count from 0: the model was trained so, unless the row is a piece of a longer one.',
  },
  'positions-not-restarted': {
    what: 'The row holds several texts, and their positions are counted as of one.',
    todo: 'Begin again with 0 at each text, or leave position_ids out if the texts are meant to see each other.',
  },
  'roles-out-of-order': {
    what: 'Two messages in a row are of the same role, a system message is not the first, or the last one is not an answer.',
    todo: 'Look for a message that was lost, or join the two.',
  },
  mojibake: {
    what: 'A text was read in another encoding than it was written in.',
    todo: 'Read the file as UTF-8. Libraries such as ftfy can often restore the rest.',
  },
  'escaped-text': {
    what: 'A text holds escapes such as \\n or &lt; in place of the characters.',
    todo: 'Decode it once more, or once less on its way here: the model learns to write the escapes.',
  },
  'missing-value': {
    what: 'A text is nothing but the word for a missing value, such as nan or null.',
    todo: 'Leave the row out, unless that word is the answer.',
  },
  'thought-open': {
    what: 'An answer begins a thought and does not end it.',
    todo: 'Leave the row out, or sample it again with more tokens: the model learns to answer within its thought.',
  },
  'answer-repeats-prompt': {
    what: 'An answer begins with all of its prompt.',
    todo: 'Look for a column that holds the whole conversation: the prompt is trained as a part of the answer.',
  },
  'prompt-ends-with-answer': {
    what: 'A prompt ends with all of its answer.',
    todo: 'Look for a column that holds the whole conversation: the model only learns to copy.',
  },
  cut: {
    what: 'The row is longer than the length limit.',
    todo: 'No answer is cut in two; what lies beyond is lost.',
  },
  'ids-are-of-another-rendering': {
    what: 'The ids are not what this tokenizer and template make of the row’s conversation.',
    todo: 'Whose token is whose cannot be told from the messages; give the template that made them with --template.',
    catches: ['TPL-06'],
  },
} as const satisfies Readonly<Record<string, FlagText>>;

export interface FlagText {
  readonly what: string;
  readonly todo: string;
  /** Rows of the catalogue of bugs that it shows in a data set. */
  readonly catches?: readonly string[];
}

export type FlagId = keyof typeof FLAGS;
export type NoteId = keyof typeof NOTES;

/** A flag or note of one row. */
export interface Fault {
  readonly id: FlagId | NoteId;
  /** With the token, the role, the number. */
  readonly sentence: string;
  /** The columns meant, the first first; empty where no token is meant. */
  readonly columns: readonly number[];
}

export function isNote(id: FlagId | NoteId): id is NoteId {
  return Object.hasOwn(NOTES, id);
}

export function textOf(id: FlagId | NoteId): FlagText {
  return isNote(id) ? NOTES[id] : FLAGS[id];
}

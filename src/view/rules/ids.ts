// What ids say by themselves: BOS, placeholders of images, and ids that are none.
import { columnsWhere, fault, type Rule } from './rule.ts';

export const oneBos: Rule = (row, { tokenizer }, say) => {
  const bos = tokenizer?.bosTokenId;
  // Padding with the same id looks alike; only attention_mask tells them apart. And two texts in one row may meet.
  const alike = tokenizer?.padTokenId === bos || tokenizer?.eosTokenId === bos;
  const unsure = alike && row.given !== undefined && row.given.attention === undefined;
  if (bos === undefined || unsure) return [];
  // Packed rows begin more than once.
  const last = alike ? row.real.from + 1 : row.real.to - 1;
  for (let at = row.real.from + 1; at <= last && at < row.real.to; at++)
    if (row.ids[at] === bos && row.ids[at - 1] === bos)
      return [fault('double-bos', `${say(at)} is BOS, and so is the token before it.`, [at, at - 1])];
  return [];
};

export const ofTheVocabulary: Rule = (row, { tokenizer, embeddings }) => {
  const wrong = columnsWhere(row, (at) => {
    const id = row.ids[at] ?? -1;
    return (
      id < 0 || (tokenizer !== undefined && id >= tokenizer.vocabSize && tokenizer.token(id) === undefined)
    );
  });
  const [first] = wrong;
  if (first === undefined) {
    const beyond = columnsWhere(row, (at) => embeddings !== undefined && (row.ids[at] ?? 0) >= embeddings);
    const [at] = beyond;
    if (at === undefined) return [];
    const why = `the model's embedding has ${embeddings} rows (config.json)`;
    return [fault('id-outside-embedding', `Token ${at} has the id ${row.ids[at]}; ${why}.`, beyond)];
  }
  const size =
    tokenizer === undefined ? 'no vocabulary has negative ids' : `the vocabulary has ${tokenizer.vocabSize}`;
  return [fault('id-outside-vocabulary', `Token ${first} has the id ${row.ids[first]}; ${size}.`, wrong)];
};

export const placeholdersAreNot: Rule = (row, { placeholders = [] }, say) => {
  // Where no labels are given, a collator may still take them out.
  if (row.given === undefined) return [];
  const wrong = columnsWhere(
    row,
    (at) => row.trained[at] === true && placeholders.includes(row.ids[at] ?? -1),
  );
  const [first] = wrong;
  return first === undefined
    ? []
    : [
        fault(
          'placeholder-trained',
          `${say(first)} stands for a part of an image, a video or sound, and is trained.`,
          wrong,
        ),
      ];
};

// The catalogue of bugs: what has gone wrong in real trainers, one row a mistake. Mutants are named after these rows
// and properties say which of them they catch. It says what goes wrong only; how that is seen is the properties'.

export interface Bug {
  readonly id: string;
  /** What goes wrong, as a sentence. */
  readonly what: string;
  /** Why no mutant shows it. */
  readonly unshown?: string;
}

const WHAT: Readonly<Record<string, string>> = {
  'TOK-01': 'The template writes BOS and the tokenizer adds a second one.',
  'TOK-02': 'The guard against a second BOS looks at one character of the text and never fires.',
  'TOK-04': 'A special token with id 0 counts as not configured.',
  'TOK-05': 'The prompt is tokenised alone to find where it ends, and a merge crosses that border.',
  'TOK-06': 'The marker of the answer is searched as ids and is tokenised differently in context.',
  'TOK-07': 'Special tokens get lost, or padding gets in, on the way from ids to text and back.',
  'TOK-09': 'The text of an added token is decoded as if it were bytes of the vocabulary.',
  'TOK-10': 'Ids as bigint are compared with stop ids as numbers, and no stop is ever found.',
  'TOK-12': 'White space at the end of a message or of a turn is stripped before tokenisation.',

  'EOS-01': 'Padding is told by its id, and with pad = eos the real stop token is not trained.',
  'EOS-02': 'The attention mask is derived from ids, and with pad = eos real stop tokens are hidden.',
  'EOS-03': 'Tokens behind the stop token are trained.',
  'EOS-05': 'One of several stop ids is honoured, the others are not.',
  'EOS-06': 'A stop token is put behind a completion that was cut by its length, and is trained.',
  'EOS-07': 'Supervised targets end without their stop token.',
  'EOS-09': 'Turns end with another token than eos, and that token is never trained.',
  'EOS-11': 'A stop is trimmed from the text or from the ids, not from what lies beside them.',
  'EOS-12': 'Whether a completion was truncated is asked after it was cut, or of the wrong limit.',
  'EOS-13': 'Batches are padded with one id, and the code that reads them expects another.',

  'PAD-01': 'The number of real prompt tokens is taken for the column where the completion begins.',
  'PAD-02': 'The mask is placed by the number of real tokens on rows that are padded on the left.',
  'PAD-03': 'The completion is cut from the end of a row that has padding behind it.',
  'PAD-04': 'Prompts are padded on the right before generation continues them.',
  'PAD-05': 'Position ids count the padding on the left.',
  'PAD-06': 'Padding on the left is made by reversing, along the wrong axis.',
  'PAD-08': 'Rows are put back in order for some tensors of the batch and not for others.',
  'PAD-09': 'A sentinel under the mask is also a legal value, and is computed with.',
  'PAD-11': 'Filler rows that make a batch divisible are counted as samples.',

  'TPL-01': 'The generation prompt is missing where the model answers, or stands where it does not.',
  'TPL-02': 'A misspelt option is accepted and has no effect.',
  'TPL-03': 'The template drops earlier reasoning, so one turn is no beginning of the next.',
  'TPL-04': 'What the template adds behind a turn is cut off at another place than the sampled text.',
  'TPL-06': 'Supervised training and RL write the same conversation down differently.',
  'TPL-07': 'Completions are scored behind another prompt than they were sampled behind.',
  'TPL-09': 'The template does not mark what the assistant says, so nothing is trained.',
  'TPL-10': 'The span of an answer that begins at token 0 or ends in white space runs to the end.',

  'MSK-01': 'The tokens of the prompt are trained.',
  'MSK-02': 'Tokens that a tool or an environment wrote are trained.',
  'MSK-04': 'The mask is shifted by one, in the wrong direction or at the wrong end.',
  'MSK-05': 'Markers of user and assistant are paired wrongly in irregular dialogues.',
  'MSK-06': 'Padding is left in the labels and counts as a target.',
  'MSK-08': 'A rollout that is continued later keeps the mask of its first part.',
  'MSK-09': 'Of several turns the wrong ones are trained: the first for the last, or past a tool.',
  'MSK-10': 'The number of trained tokens comes from a length or a span, not from the mask.',
  'MSK-11': 'Ids and mask are cut to different limits.',
  'MSK-12': 'A filtered row is removed from one mask and stays in another.',
  'MSK-15':
    'Per-step arrays of a segment have lengths that differ by one, and the mask follows the wrong one.',

  'LP-01': 'A token is scored under logits of another position.',
  'LP-03': 'Labels are shifted after the row was cut into shards, so each shard loses one.',
  'LP-05': 'Scoring leaves out the temperature of sampling, or applies it wrongly.',
  'LP-06': 'The temperature also changes values or stored log-probabilities.',
  'LP-07': 'Sampling renormalises over the kept tokens, scoring over the whole vocabulary.',
  'LP-08': 'The server gives log-probabilities of raw logits where those of processed ones are meant.',
  'LP-09': 'The log-probability of the likeliest token is read instead of the sampled one.',
  'LP-11': 'Log-probabilities are computed or kept in too few bits.',
  'LP-12': 'Dropout is on while scoring.',
  'LP-14': 'A cache that was filled with old weights answers after the update.',
  'LP-15': 'The reference is another network than the one it stands for.',
  'LP-16': 'The same row scores differently in another batch, so the first ratio is not 1.',
  'LP-17': 'What changed the distribution while sampling is not part of the scored distribution.',

  'KL-01': 'The KL term is subtracted from the loss.',
  'KL-02': 'The estimator k1 is used as a loss, where its gradient does not know the reference.',
  'KL-03': 'Policy and reference are swapped in the estimator.',
  'KL-04': 'The KL in the loss has no gradient.',
  'KL-06': 'The name of an estimator selects another one, or none.',
  'KL-08': 'Masked tokens count in the KL.',
  'KL-09': 'The configured coefficient has no effect.',
  'KL-10': 'The penalty is in reward and loss, or in neither.',
  'KL-12': 'The reward of the sequence is given to each token instead of to one.',
  'KL-13': 'Padding on the left is summed into the KL, which turns negative.',

  'ADV-02': 'The branches for group and batch are swapped.',
  'ADV-03': 'Advantages are normalised over the batch where the group is meant.',
  'ADV-04': 'Rows are grouped in another order than they lie in.',
  'ADV-05': 'Groups without spread, or of one row, give NaN or huge advantages.',
  'ADV-06': 'Padding takes part in the statistics of whitening.',
  'ADV-08': 'One advantage a row is broadcast along the wrong axis.',
  'ADV-09': 'A row is trained with the mask of another one.',
  'ADV-12': 'Groups are found by the text of the prompt, and equal prompts become one group.',
  'ADV-13': 'Whitening uses the statistics of one rank instead of all.',
  'ADV-14': 'With one sample a prompt all advantages are 0, and nobody says so.',
  'ADV-15': 'Clipping adds both sides: doubled inside the range, without bound outside.',
  'ADV-16': 'The sampler repeats some prompts more often than others.',

  'LOSS-01': 'The means of the micro-batches are averaged, whatever their token counts.',
  'LOSS-02': 'Each rank divides by its own tokens before gradients are averaged.',
  'LOSS-03': 'The denominator counts by another mask than the numerator.',
  'LOSS-04': 'A mode of aggregation computes another one than its name says.',
  'LOSS-08': 'A constant factor is lost or applied twice.',
  'LOSS-09': 'A logged number is aggregated otherwise than what it stands for.',
  'LOSS-10': 'Splitting the sequence over devices changes the size of the loss.',
  'LOSS-11': 'The mean is taken over padding as well.',
  'LOSS-12': 'Gradients of earlier micro-batches are dropped before the step.',
  'LOSS-13': 'A preference loss sums over tokens where it must average, or the reverse.',
  'LOSS-14': 'Distillation divides by another count, or keeps a term that is switched off.',

  'PPO-01': 'The dual clip also touches tokens whose advantage is not negative.',
  'PPO-03': 'Minimum and maximum are confused where the advantage is negative.',
  'PPO-04': 'A clipped weight stands without a log-probability, so clipped tokens have no gradient.',
  'PPO-05': 'The ratio of the sequence counts masked tokens or is spread wrongly over its tokens.',
  'PPO-06': 'The KL that is logged comes from clamped ratios and hides a divergence.',
  'PPO-07': 'The entropy bonus has the wrong sign.',
  'PPO-08': 'Entropy is averaged over padding or prompt, or over shifted positions.',
  'PPO-09': 'Rows are filtered by recomputed log-probabilities instead of by those of sampling.',

  'VAL-01': 'The final reward lands on padding or on another token than declared.',
  'VAL-03': 'The value of a state is read behind its action.',
  'VAL-04': 'Tokens of a tool are steps of the advantage recursion, or break it.',
  'VAL-05': 'The score of a row is read at a column that its padding moves.',
  'VAL-07': 'A grader is handed text where ids are meant, and counts characters as tokens.',
  'VAL-08': 'A penalty for length divides by 0, or a grader dies in silence and every reward is 0.',

  'TRN-01': 'Keeping the end of a row that begins flush left keeps its padding.',
  'TRN-03': 'The beginning of the prompt is cut away in silence.',
  'TRN-04': 'Truncation takes the whole answer, and the row is trained on nothing.',
  'TRN-05': 'Ids are cut, and the arrays beside them are not.',
  'TRN-06': 'The budget for tokens counts something twice and keeps too little.',

  'PCK-01': 'Examples in one packed row see each other.',
  'PCK-02': 'Positions run on from one packed example into the next.',
  'PCK-03': 'The first token of a packed example is trained as the continuation of the one before.',
  'PCK-04': 'Packed rows exceed their limit or lose examples.',
  'PCK-07': 'Unpacking assumes one side of padding, or lengths that are whole numbers.',
  'PCK-08': 'Evaluation follows the packing switch of training.',

  'MT-01': 'Sampled ids are turned into text and tokenised again.',
  'MT-02': 'Behind a turn that was cut by its length, an ordinary token is taken for its end.',
  'MT-03': 'Several tool results in a row are rendered one by one.',
  'MT-04': 'What the model invents behind a tool call is trained.',

  'PEN-01': 'Presence and frequency penalties count the prompt.',
  'PEN-02': 'The repetition penalty leaves out the prompt, or is applied once for every occurrence.',
  'PEN-03': 'Padding is counted by the penalties.',
  'PEN-04': 'Processed logits are computed and thrown away.',

  'ZL-01': 'A batch is read by length or position, and a loss that is switched on never runs.',
  'ZL-02': 'Nothing is trained, and the run reports a loss of 0 as success.',
  'ZL-03': 'A loss near 0 in the first step of GRPO is taken for a failure.',
  'ZL-04': 'A batch without any advantage crashes, or is skipped in silence.',
  'ZL-05': 'A counter or a metric is read from a place that nobody writes.',

  'NUM-01': 'A row or batch without trained tokens is divided by 0.',
  'NUM-02': 'What stands under the mask is multiplied by 0, and 0 times NaN is NaN.',
  'NUM-03': 'A query that may attend to nothing gives NaN, which spreads.',
  'NUM-05': 'The exponential of a difference of log-probabilities overflows.',
  'NUM-06': 'Minus infinity, used as a marker, is multiplied by 0.',
  'NUM-07': 'NaN, infinities or large ids do not survive JSON.',
};

const UNSHOWN: Readonly<Record<string, string>> = {
  'PCK-08':
    'It concerns how an evaluation run is configured; packing itself is checked, whoever switches it on.',
  'ADV-16':
    'It concerns the order in which a data loader repeats prompts over steps; no op hands over a sequence of batches.',
  'LOSS-14': 'No op takes the logits of a teacher: distillation is not covered.',
  'PPO-09':
    "It concerns which rows a filter on the gap between sampler and trainer drops; op `loss` is not given the sampler's log-probabilities.",
  'ZL-03': 'It is a wrong alarm, not a bug: the correct trainers show that no property raises it.',
  'NUM-07':
    "It concerns the pipe between harness and trainer; the decoder's and the SDK's own tests prove it.",
};

export const bugs: readonly Bug[] = Object.entries(WHAT).map(([id, what]) => {
  const unshown = UNSHOWN[id];
  return unshown === undefined ? { id, what } : { id, what, unshown };
});

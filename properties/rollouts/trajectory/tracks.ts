// What travels beside the rows of a rollout: masks, log-probabilities, advantages, lengths and flags speak of the same
// tokens, because all of them are functions of the same turns.
import {
  discard,
  type Finding,
  ownTurns,
  type Property,
  type Trajectory,
  type TurnToken,
  tokenAt,
} from '../../../src/index.ts';
import { ask, base, placed, trackFinding, turnName } from './rows.ts';

const TRACKS = ['loss_mask', 'completion_mask', 'logprobs', 'advantages', 'rewards'] as const;
const MASKS = ['loss_mask', 'completion_mask'] as const;

const asLong: Property<Trajectory> = {
  ...base,
  id: 'trajectory/tracks-are-as-long-as-their-rows',
  title:
    'Masks, log-probabilities, advantages and rewards have one value per token of their row, and masks are 0 or 1',
  why: 'A mask that was not extended when generation went on is padded with zeros, or shifts everything after it.',
  catches: ['MSK-08', 'EOS-11', 'TRN-05'],
  async check(subject, drawn) {
    const answer = await ask(subject, drawn);
    for (const [row, ids] of answer.input_ids.entries()) {
      for (const name of TRACKS) {
        const length = answer[name]?.[row]?.length;
        if (length === undefined || length === ids.length) continue;
        return {
          kind: 'length',
          sentence: `Row ${row} has ${ids.length} tokens, but ${name} has ${length} ${length === 1 ? 'value' : 'values'}.`,
        };
      }
      for (const name of MASKS) {
        const column = answer[name]?.[row]?.findIndex((value) => value !== 0 && value !== 1) ?? -1;
        if (column >= 0)
          return {
            kind: 'value',
            sentence: `${name} of row ${row} holds ${answer[name]?.[row]?.[column]} at token ${column}; a mask holds 0 and 1.`,
          };
      }
    }
    return undefined;
  },
};

/** The numbers of an optional field; without it the case says nothing. */
function given<T>(field: T | undefined, name: string): T {
  return field ?? discard(`the answer has no ${name}`, 'trainer');
}

const masksAgree: Property<Trajectory> = {
  ...base,
  id: 'trajectory/masks-agree',
  title: 'completion_mask is 1 on every token that loss_mask trains, and 0 on the prompt',
  why: 'A filter that empties one mask and forgets the other leaves a row half in the loss: in the sum, and not in the count.',
  catches: ['MSK-12', 'MSK-01'],
  async check(subject, drawn) {
    const { answer, rows } = await placed(subject, drawn);
    const masks = given(answer.completion_mask, 'completion_mask');
    return trackFinding(
      subject,
      rows,
      'mask',
      ({ row }) => masks[row] ?? [],
      ({ part }, column, { mask }) =>
        // Where tool output has a mask of its own, completion_mask may cover it.
        mask[column] === 1 ? 1 : part === 'prompt' ? 0 : undefined,
      (column, { row, ids, mask }) =>
        mask[column] === 1
          ? `${tokenAt(subject, ids, column)} of row ${row} is trained by loss_mask, but completion_mask leaves it out.`
          : `${tokenAt(subject, ids, column)} of row ${row} belongs to the prompt, but completion_mask is 1 there.`,
    );
  },
};

const logprobs: Property<Trajectory> = {
  ...base,
  id: 'trajectory/logprobs-stay-with-their-tokens',
  title: "On every trained token stands the sampler's log-probability of that very token",
  why: 'If one number is lost with a stop token or a tool message, every ratio after it compares two different tokens.',
  catches: ['EOS-11', 'MSK-08', 'MT-01'],
  async check(subject, drawn) {
    const { answer, rows } = await placed(subject, drawn);
    const tracks = given(answer.logprobs, 'logprobs');
    const sampled = ({ turn, at }: TurnToken): number | undefined => drawn.turns[turn]?.logprobs[at];
    const finding = trackFinding(
      subject,
      rows,
      'logprob',
      ({ row }) => tracks[row] ?? [],
      (token, column, { mask }) => (mask[column] === 1 ? sampled(token) : undefined),
      (column, { row, ids, tokens }) =>
        `${tokenAt(subject, ids, column)} of row ${row} was sampled with log-probability ${tokens[column] === undefined ? 'none' : sampled(tokens[column])}, but the row has ${tracks[row]?.[column] ?? 'nothing'} there.`,
    );
    return finding;
  },
};

const advantages: Property<Trajectory> = {
  ...base,
  id: 'trajectory/advantage-stands-on-the-trained-tokens',
  title: "Every trained token has the rollout's advantage; every other token has that or 0",
  why: 'An advantage laid out with the mask of another row gives the tokens that were sampled a gradient of zero.',
  catches: ['ADV-09', 'MSK-09'],
  async check(subject, drawn) {
    const { answer, rows } = await placed(subject, drawn);
    const tracks = given(answer.advantages, 'advantages');
    return trackFinding(
      subject,
      rows,
      'advantage',
      ({ row }) => tracks[row] ?? [],
      (_, column, { row, mask }) =>
        mask[column] === 1 || nearer(tracks[row]?.[column] ?? 0, drawn.advantage) ? drawn.advantage : 0,
      (column, { row, ids, mask }) =>
        `${tokenAt(subject, ids, column)} of row ${row} is ${mask[column] === 1 ? 'trained' : 'not trained'}, and its advantage is ${tracks[row]?.[column] ?? 'missing'}; the rollout's is ${drawn.advantage}.`,
    );
  },
};

/** Rather this than 0. */
const nearer = (value: number, to: number): boolean => Math.abs(value - to) < Math.abs(value);

const lengths: Property<Trajectory> = {
  ...base,
  id: 'trajectory/response-lengths-count-trained-tokens',
  title: 'response_lengths is the number of trained tokens of each row',
  why: 'Where tool output stands between two answers, the way from the first trained token to the last counts it too, and every mean over tokens is divided by too much.',
  catches: ['MSK-10'],
  async check(subject, drawn) {
    const { answer, rows } = await placed(subject, drawn);
    const counted = given(answer.response_lengths, 'response_lengths');
    for (const { row, mask } of rows) {
      const trained = mask.filter((on) => on === 1).length;
      if (counted[row] === trained) continue;
      return {
        kind: 'count',
        sentence: `Row ${row} trains ${trained} ${trained === 1 ? 'token' : 'tokens'}, but its response length is ${counted[row]}.`,
      };
    }
    return undefined;
  },
};

const truncated: Property<Trajectory> = {
  ...base,
  id: 'trajectory/truncated-says-that-a-turn-was-cut',
  title: 'truncated is 1 exactly where a turn of the row ran into the length limit',
  why: 'A turn that was cut in the middle is not an answer. If only the last turn is inspected, it is rewarded as if it were one.',
  catches: ['EOS-12', 'MT-02'],
  async check(subject, drawn): Promise<Finding | undefined> {
    const { answer, rows } = await placed(subject, drawn);
    const flags = given(answer.truncated, 'truncated');
    const owned = ownTurns(
      rows.map(({ tokens }) => tokens),
      drawn.turns,
    );
    const cut = (turn: number): boolean => drawn.turns[turn]?.finish_reason === 'length';
    const empty = (turn: number): boolean => drawn.turns[turn]?.ids.length === 0;
    for (const { row, tokens } of rows) {
      // A turn without tokens leaves no trace: whether it belongs to a row cannot be seen, and is nobody's harm.
      const mine = owned[row] ?? [];
      // A row of its own, which was left out, said so of a turn before the last.
      const leftOut = (turn: number): boolean =>
        subject.semantics.truncated_completions_trained === false && turn !== mine.at(-1);
      const own = mine.filter((turn) => cut(turn) && !empty(turn) && !leftOut(turn));
      let reach = Math.max(-1, ...tokens.map(({ turn }) => turn));
      while (reach + 1 < drawn.turns.length && empty(reach + 1)) reach++;
      // A turn of the history is a turn of the row as well, and may be counted.
      const somewhere = drawn.turns.some((_, turn) => turn <= reach && cut(turn));
      const flag = flags[row];
      if (own.length > 0 ? flag === 1 : flag === 0 || (flag === 1 && somewhere)) continue;
      return {
        kind: own.length > 0 ? 'missed' : 'invented',
        sentence:
          own.length > 0
            ? `${turnName(drawn, own[0] ?? 0)} of row ${row} ran into the length limit, but truncated is ${flag}.`
            : `No turn of row ${row} ran into the length limit, but truncated is ${flag}.`,
      };
    }
    return undefined;
  },
};

export const trajectoryTracks: readonly Property<Trajectory>[] = [
  asLong,
  masksAgree,
  logprobs,
  advantages,
  lengths,
  truncated,
];

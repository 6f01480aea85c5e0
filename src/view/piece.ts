// A piece of a rendered conversation.
import type { Role } from '../vocabulary.ts';

export interface Piece {
  readonly text: string;
  readonly role: Role;
  /** Index of its message; -1: of none. */
  readonly turn: number;
  /** `frame`: the template's own writing. */
  readonly part: 'frame' | 'content' | 'stop';
  /** Belongs to an answer, from behind its header to the end of its stop token. */
  readonly answer: boolean;
}

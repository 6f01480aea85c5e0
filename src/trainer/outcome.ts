// A decoded answer as the harness sees it: the protocol's error and a wrong shape become failures.
import type { Answer, Op } from '../protocol/message.ts';
import type { Decoded } from '../protocol/result.ts';
import type { Given } from './answer-advice.ts';
import { raisedFailure, shapeFailure } from './explain.ts';
import type { Outcome } from './trainer.ts';

export function outcomeOf<T>(op: Op, decoded: Decoded<Answer<T>>, given: Given): Outcome<T> {
  if ('complaint' in decoded) return { kind: 'failure', failure: shapeFailure(op, decoded.complaint) };
  const answer = decoded.ok;
  if ('ok' in answer) {
    const { ok, written } = answer;
    return written === undefined ? { kind: 'ok', ok } : { kind: 'ok', ok, written };
  }
  if ('reject' in answer) return { kind: 'reject', why: answer.reject };
  if ('skip' in answer) return { kind: 'skip', why: answer.skip };
  return { kind: 'failure', failure: raisedFailure(op, answer.error, given) };
}

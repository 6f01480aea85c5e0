// What a trainer means, whichever op shows it.
import { FORMULAS, section } from '../choice.ts';

export const ANY_OP = section('any op', [], {
  own_formulas: {
    values: 'formulas',
    says: `list of ${FORMULAS.map((op) => `\`${op}\``).join(', ')}: their formula is intended and not a known one; it is compared with no formula`,
    ops: FORMULAS,
    unmeasured: 'a formula that fits none of the known ones is a question, and this is its answer',
  },
  in_place: {
    values: 'ops',
    says: 'list of ops that write into their arguments on purpose',
    unmeasured: 'that an op writes into its arguments is seen at once; whether it is meant is not',
  },
});

// `npm test`: the catalogue against the trainer of this folder's configuration, the bundled example by default.
import { testTrainer } from './vitest.ts';

testTrainer({ bundled: true });

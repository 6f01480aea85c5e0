// The whole catalogue against the trainer of trainproof.config.json, one test a property.
import { testTrainer } from 'trainproof/vitest';

testTrainer();

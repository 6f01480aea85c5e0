// Runs before each test file: our own tests try other cases each time, and with LOSSPROOF_SEED the same ones again.
import fc from 'fast-check';
import { freshSeed } from '../src/cli/seed.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: freshSeed(process.env) });

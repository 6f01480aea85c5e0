// What `import ... from 'lossproof'` gives: all of src/index.ts, and the properties.
export * from '../src/index.ts';
export { properties } from './index.ts';

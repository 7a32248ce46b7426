import fc from 'fast-check';

// The same inputs at every run, so that a red build means a changed program. PROPERTY_SEED=random looks for new ones;
// what it finds is worth an example of its own in the spec.
const seed = process.env.PROPERTY_SEED ?? '20261121';
if (seed !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });

export { type DemoFile, ensureDemo, fillDemo, sampleCheckoutUrl } from './demo-data.js';

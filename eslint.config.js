import js from '@eslint/js';
import redos from 'eslint-plugin-redos';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';
import plainComment from './tools/lint/plain-comment.mjs';

export default tseslint.config(
  { ignores: ['dist/**', '.dist-*/**', 'node_modules/**', '.data/**', 'coverage/**'] },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  {
    // Comments that are not plain yet are counted in eslint-suppressions.json, and their number only falls.
    plugins: { words: { rules: { 'plain-comment': plainComment } } },
    rules: { 'words/plain-comment': 'error' },
  },
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': [
        'error',
        // With emitDecoratorMetadata a class injected by type must stay a value import; the fixer would break it.
        { prefer: 'type-imports', fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      'no-console': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    // What the service runs meets texts of its callers: 60 000 line breaks must not stop it. Two judges, each of which
    // finds what the other misses; where neither can tell the time of an expression, it is written by hand.
    files: ['src/**/*.ts'],
    ignores: ['src/cli/**', '**/*.spec.ts', '**/*.fixture.ts'],
    plugins: { redos, regexp },
    rules: {
      // Milliseconds for one expression, which takes tenths of a second where nothing else runs.
      'redos/no-vulnerable': ['error', { ignoreErrors: false, timeout: 60_000 }],
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false }],
      'regexp/no-contradiction-with-assertion': 'error',
      'regexp/no-dupe-disjunctions': 'error',
      'regexp/no-empty-alternative': 'error',
      'regexp/no-misleading-capturing-group': 'error',
      'regexp/no-misleading-unicode-character': 'error',
      'regexp/no-optional-assertion': 'error',
      'regexp/optimal-quantifier-concatenation': 'error',
      'no-restricted-imports': [
        'error',
        {
          name: 'class-validator',
          importNames: ['IsOptional'],
          message: 'It takes null for a field that was left out; use OptionalField of core/http.',
        },
        {
          name: '@nestjs/swagger',
          importNames: ['IntersectionType', 'OmitType', 'PartialType', 'PickType'],
          message: 'They load class-validator a second time, beside the bundle; extend a class instead.',
        },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: ':matches(NewExpression, CallExpression)[callee.name="RegExp"]',
          message: 'Write the expression as a literal: no rule can tell how long one takes that is put together.',
        },
        {
          selector: 'MethodDefinition[kind="constructor"] > FunctionExpression[params.length>7]',
          message: 'A class that needs more than seven others does more than one thing.',
        },
      ],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      ...tseslint.configs.disableTypeChecked.languageOptions,
      globals: { console: 'readonly', process: 'readonly', URL: 'readonly' },
    },
  },
);

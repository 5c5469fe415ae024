/** What ESLint asks of the extension's TypeScript and of the pages' JavaScript; `npm run lint` starts it in `extension`. */

import eslint from '@eslint/js';
import { defineConfig } from 'eslint/config';
import { configs } from 'typescript-eslint';

export default defineConfig({
  files: ['lab/src/*.ts', 'nxkernel_lab/static/*.js'],
  extends: [eslint.configs.recommended, configs.recommendedTypeChecked],
  languageOptions: { parserOptions: { project: 'tsconfig.json', tsconfigRootDir: import.meta.dirname } },
  linterOptions: { reportUnusedDisableDirectives: 'error' },
  // The compiler knows all names.
  rules: { 'no-undef': 'off' }
});

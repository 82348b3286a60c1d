import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tools/**/*.test.ts', 'test/unit/**/*.test.ts'],
    // One process and no isolation: the code has no top-level state, so files cannot disturb each other.
    pool: 'threads',
    isolate: false,
    testTimeout: 30_000,
  },
});

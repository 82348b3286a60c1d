import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/kit/longest-first.ts';

/** A busy machine must not fail a test: polls end as soon as their condition holds. */
const expect = { poll: { timeout: 60_000, interval: 50 } };

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          expect,
          include: ['src/**/*.test.ts', 'tools/**/*.test.ts', 'test/unit/**/*.test.ts'],
          // One process and no isolation: the code has no top-level state, so files cannot disturb each other.
          pool: 'threads',
          isolate: false,
          maxWorkers: 2,
          testTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'cluster',
          expect,
          include: ['test/cluster/**/*.test.ts'],
          // Starts one cluster per worker, which files use in turn; files that break things start their own. They wait a lot.
          globalSetup: 'test/kit/cluster/global-setup.ts',
          pool: 'forks',
          maxWorkers: 3,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'scenario',
          expect,
          include: ['test/scenarios/**/*.test.ts'],
          // Each file starts sandboxes of its own, on loopback only; they share nothing but the machine, and wait a lot.
          pool: 'forks',
          maxWorkers: 3,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'windows',
          expect,
          include: ['test/windows/**/*.test.ts'],
          // Makes Wine, the doubles and the agent; each file starts hosts of its own, which mostly wait.
          globalSetup: 'test/kit/winhost/global-setup.ts',
          pool: 'forks',
          maxWorkers: 3,
          testTimeout: 300_000,
          hookTimeout: 420_000,
        },
      },
    ],
  },
});

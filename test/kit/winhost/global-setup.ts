import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildAgent } from '../../../tools/build-agent/build-agent.ts';
import { startWmco } from '../wmco-process.ts';
import { makeParts } from './parts.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The agent for Windows as one .exe, made of the sources as they are. */
    agentProgram: string;
  }
}

const agent = join(import.meta.dirname, '../../../src/bin/agent.ts');

/** Builds what all files of the project "windows" need before their time limits start. Each file starts its own hosts. */
export default async function setUp(project: TestProject): Promise<void> {
  await makeParts();
  // Operators of tests are killed, so they would not write the compile cache.
  await startWmco(['operator', '--help']).ended();
  project.provide('agentProgram', existsSync(agent) ? (await buildAgent({ entry: agent })).path : '');
}

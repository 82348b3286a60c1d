import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildAgent } from '../../../tools/build-agent/build-agent.ts';
import { makeParts } from './parts.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The agent for Windows as one .exe, made of the sources as they are. */
    agentProgram: string;
  }
}

const agent = join(import.meta.dirname, '../../../src/bin/agent.ts');

/** Makes what all files of the project "windows" need and takes longer than a test may. Each file starts hosts of its own. */
export default async function setUp(project: TestProject): Promise<void> {
  await makeParts();
  project.provide('agentProgram', existsSync(agent) ? (await buildAgent({ entry: agent })).path : '');
}

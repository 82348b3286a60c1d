import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'vitest';
import { buildAgent } from '../../../tools/build-agent/build-agent.ts';
import type { WindowsHost } from '../../kit/winhost/host.ts';
import type { WindowsLab } from '../../kit/winhost/lab.ts';
import type { Step, StepOutcome } from './host-ports.ts';

const driver = 'C:\\lab\\host-ports.exe';

/** A host with the program host-ports.ts. */
export async function createPortsHost(lab: WindowsLab): Promise<WindowsHost> {
  const { path } = await buildAgent({ entry: join(import.meta.dirname, 'host-ports.ts') });
  const host = await lab.createHost();
  await host.drive.copyIn(path, driver);
  return host;
}

interface Ports {
  /** Runs steps in one new process on the host. */
  outcomes: (...steps: Step[]) => Promise<StepOutcome[]>;
  /** For steps that must succeed; returns their values. */
  values: (...steps: Step[]) => Promise<unknown[]>;
  value: (...step: Step) => Promise<unknown>;
  error: (...step: Step) => Promise<StepOutcome['error']>;
}

/** The ports of the agent on a host that `createPortsHost` made. */
export function portsOf(host: () => WindowsHost): Ports {
  const outcomes: Ports['outcomes'] = async (...steps) => {
    const input = `C:\\lab\\steps-${randomUUID()}.json`;
    await host().drive.write(input, JSON.stringify(steps));
    return JSON.parse(await host().run(`${driver} ${input}`)) as StepOutcome[];
  };
  const values: Ports['values'] = async (...steps) => {
    const results = await outcomes(...steps);
    expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
    return results.map(({ value }) => value);
  };
  return {
    outcomes,
    values,
    value: async (...step) => (await values(step))[0],
    error: async (...step) => (await outcomes(step))[0]?.error,
  };
}

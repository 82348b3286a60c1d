import { agentName } from '#contract/names.ts';
import type { Program } from '../host/process.ts';
import { agentProgram } from './agent.ts';
import { cloudNodeManagerProgram } from './cloud-node-manager.ts';
import { programName } from './command-line.ts';
import { defectiveProgram } from './defective.ts';
import { hybridOverlayProgram } from './hybrid-overlay.ts';
import { idleProgram } from './idle.ts';
import { kubeletProgram } from './kubelet.ts';
import type { ProgramHost } from './program-host.ts';
import type { Defect } from './stamp.ts';

export interface ServiceRun {
  path: string;
  words: readonly string[];
  /** Of the file. */
  version: string;
  /** Of Kubernetes, of a kubelet. */
  reports?: string;
  defect?: Defect;
}

type Make = (run: ServiceRun, host: ProgramHost) => Program;

/** Simulated service programs; any other program just runs. */
const programs: Readonly<Record<string, Make>> = {
  'kubelet.exe': ({ words, reports }, host) => kubeletProgram(words, host, reports),
  'azure-cloud-node-manager.exe': ({ words }, host) => cloudNodeManagerProgram(words, host),
  'hybrid-overlay-node.exe': ({ words }, host) => hybridOverlayProgram(words, host),
  [`${agentName}.exe`]: ({ path, words, version }, host) =>
    agentProgram(
      {
        path,
        words,
        version,
        startedBy: 'service manager',
        terminal: { out: () => undefined, err: text => host.log.warn(text.trimEnd()) },
      },
      host,
    ),
};

export function serviceProgram(run: ServiceRun, host: ProgramHost): Program {
  const name = programName(run.path);
  const program = Object.hasOwn(programs, name) ? (programs[name]?.(run, host) ?? idleProgram) : idleProgram;
  // An agent with a defect still swaps files: only its main service fails.
  const isVerb = name === `${agentName}.exe` && run.words[0] !== 'controller';
  return run.defect === undefined || isVerb ? program : defectiveProgram(program, run.path, run.defect, host);
}

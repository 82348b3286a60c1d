import type { Proof } from '../native.ts';

/** A program of Windows as data: docs/windows-api.md is made of these, too. */
export interface Program {
  /** Below the directory of Windows, so that no PATH decides what is run. */
  program: string;
  /** What stands in angle brackets is put in. */
  arguments: readonly string[];
  why: string;
  proof: Proof;
  /** It is ended after that. */
  limitMs: number;
}

const minuteMs = 60_000;
const dism = String.raw`System32\dism.exe`;

/** Every program that the agent runs beside the services it manages: for what Windows offers no function. */
export const programs = {
  powershell: {
    program: String.raw`System32\WindowsPowerShell\v1.0\powershell.exe`,
    arguments: ['-NoProfile', '-NoLogo', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-Command', '<text>'],
    why: 'Scripts in the services ConfigMap are PowerShell',
    proof: 'double',
    limitMs: 2 * minuteMs,
  },
  featureInfo: {
    program: dism,
    arguments: ['/Online', '/English', '/Get-FeatureInfo', '/FeatureName:<feature>'],
    why: 'Tells whether the Containers feature is enabled; the function for it needs a library of its own',
    proof: 'double',
    limitMs: 5 * minuteMs,
  },
  enableFeature: {
    program: dism,
    arguments: ['/Online', '/English', '/Enable-Feature', '/FeatureName:<feature>', '/All', '/NoRestart'],
    why: 'Enables the Containers feature',
    proof: 'double',
    limitMs: 30 * minuteMs,
  },
  restart: {
    program: String.raw`System32\shutdown.exe`,
    arguments: ['/r', '/t', '<seconds>', '/f', '/d', 'p:4:1', '/c', '<reason>'],
    why: 'Reboots the host after a delay, noted in its event log as planned maintenance of an application',
    proof: 'double',
    limitMs: minuteMs,
  },
} as const satisfies Record<string, Program>;

/** The arguments of a program with the values put in. */
export function argumentsOf(program: Program, values: Readonly<Record<string, string>>): string[] {
  return program.arguments.map(argument => argument.replace(/<(\w+)>/, (_, name: string) => values[name] ?? ''));
}

import type { Proof } from '../native.ts';

/** A program of Windows as data: a source of docs/windows-api.md. */
export interface Program {
  /** Path below the Windows directory, so that PATH has no effect. */
  program: string;
  /** With placeholders in angle brackets. */
  arguments: readonly string[];
  why: string;
  proof: Proof;
  /** The program is ended after this time. */
  limitMs: number;
}

const minuteMs = 60_000;
const dism = String.raw`System32\dism.exe`;

/** Every program that the agent runs besides the services it manages, where Windows has no function. */
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
    why: 'Checks whether the Containers feature is enabled; the DISM functions need a library of their own',
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
    why: 'Reboots the host after a delay, as planned maintenance in its event log',
    proof: 'double',
    limitMs: minuteMs,
  },
} as const satisfies Record<string, Program>;

/** The arguments of a program with its placeholders replaced. */
export function argumentsOf(program: Program, values: Readonly<Record<string, string>>): string[] {
  return program.arguments.map(argument => argument.replace(/<(\w+)>/, (_, name: string) => values[name] ?? ''));
}

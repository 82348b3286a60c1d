import { type CommandLine, type Flags, parseCommandLine, usage } from '#base/command-line.ts';
import { type WindowsVersion, windowsReleases, windowsVersions } from '#contract/supported-versions.ts';
import type { WindowsSetWishes } from '#install/machine-set/windows-set.ts';
import { clusterFlags } from '../status/options.ts';
import { readWaitOptions, waitFlags, type WaitOptions } from '../wait-options.ts';
import { manifestForms } from './manifest-text.ts';

export interface MachineSetOptions extends WaitOptions {
  act: 'print' | 'apply' | 'delete';
  wishes: WindowsSetWishes;
  /** Else the number of an existing set stays. */
  areReplicasGiven: boolean;
  /** Files instead of the cluster; empty for the cluster. */
  files: readonly string[];
  form: (typeof manifestForms)[number];
  yes: boolean;
  kubeconfig: string | undefined;
  context: string | undefined;
}

const { kubeconfig, context } = clusterFlags;

const flags = {
  image: {
    value: 'image',
    help: 'AMI, image or template with Windows; Azure and Google Cloud have public ones, which are the default',
  },
  name: { value: 'name', help: 'name of the MachineSet; default is made from the name of the cluster' },
  zone: { value: 'zone', help: 'zone of the Machines, if the Linux MachineSets are in several' },
  from: { value: 'machineset', help: 'MachineSet to start from; default is the only one of Linux workers' },
  'instance-type': { value: 'type', help: 'type of the Machines; default is that of the Linux MachineSet' },
  'windows-version': {
    value: 'year',
    default: '2022',
    values: windowsReleases,
    help: `release of Windows Server in the image: ${windowsReleases.join(', ')}`,
  },
  replicas: { value: 'number', default: '1', help: 'how many Machines', expected: numberExpected(0, 1000) },
  vcpu: { value: 'number', help: 'CPUs of a Machine', expected: numberExpected(1, 1024) },
  'memory-mb': { value: 'number', help: 'memory of a Machine in MiB', expected: numberExpected(1024, 33_554_432) },
  filename: { short: 'f', value: 'file...', isList: true, help: 'read the objects from files, folders or - instead' },
  output: { short: 'o', value: 'format', default: 'yaml', values: manifestForms, help: manifestForms.join(', ') },
  apply: { help: 'create or change the MachineSet in the cluster instead of printing it' },
  delete: { help: 'delete a Windows MachineSet with its Machines' },
  yes: { short: 'y', help: 'delete without a question' },
  ...waitFlags('deletion'),
  kubeconfig,
  context,
} as const satisfies Flags;

export const machineSetLine: CommandLine<typeof flags> = {
  name: 'wmco machineset',
  summary: 'prints a MachineSet for Windows on AWS, Azure, Google Cloud, vSphere or Nutanix',
  flags,
  details: `Reads the Infrastructure object of the cluster and a MachineSet of Linux workers, and changes what differs for Windows.

Examples:
  wmco machineset --image ami-0123456789abcdef0 --zone us-east-1a
  wmco machineset --windows-version 2025 --replicas 2 --apply
  wmco machineset -f examples/cluster.yaml examples/machinesets.yaml --image ami-0123456789abcdef0
  wmco machineset --delete --name winworker

Exit code: 0 success, 1 the MachineSet cannot be made, or the cluster refuses it, 2 usage error.`,
};

/** Undefined when help is requested. */
export function readMachineSetOptions(words: readonly string[]): MachineSetOptions | undefined {
  const parsed = parseCommandLine(machineSetLine, words);
  if (parsed === undefined) return undefined;
  const { values, given } = parsed;
  const files = given.get('filename') ?? [];
  const act = actOf(values.apply === 'true', values.delete === 'true');
  if (files.length > 0 && act !== 'print') throw usage(machineSetLine, `-f and --${act} cannot be combined`);
  return {
    act,
    wishes: wishesOf(values, given.has('windows-version')),
    areReplicasGiven: given.has('replicas'),
    files,
    form: values.output as MachineSetOptions['form'],
    yes: values.yes === 'true',
    kubeconfig: values.kubeconfig || undefined,
    context: values.context || undefined,
    ...readWaitOptions(values),
  };
}

function actOf(isApplied: boolean, isDeleted: boolean): MachineSetOptions['act'] {
  if (isApplied && isDeleted) throw usage(machineSetLine, '--apply and --delete cannot be combined');
  if (isApplied) return 'apply';
  return isDeleted ? 'delete' : 'print';
}

function wishesOf(values: Readonly<Record<keyof typeof flags, string>>, isVersionGiven: boolean): WindowsSetWishes {
  const release = values['windows-version'];
  return {
    name: values.name || undefined,
    from: values.from || undefined,
    zone: values.zone || undefined,
    image: values.image || undefined,
    instanceType: values['instance-type'] || undefined,
    version: windowsVersions.find(version => version.release === release) as WindowsVersion,
    isVersionGiven,
    replicas: Number(values.replicas),
    vcpu: numberOf(values.vcpu),
    memoryMb: numberOf(values['memory-mb']),
  };
}

function numberOf(text: string): number | undefined {
  return text === '' ? undefined : Number(text);
}

function numberExpected(least: number, most: number): (text: string) => string | undefined {
  return text => {
    const isInside = /^\d{1,8}$/.test(text) && Number(text) >= least && Number(text) <= most;
    return isInside ? undefined : `a whole number from ${least} to ${most}`;
  };
}

import { AppError, shown } from '#base/errors.ts';
import type { MachinePlatform } from './machine-platform.ts';

export interface NameFacts {
  /** As in Infrastructure objects. */
  platformType: string;
  platform: MachinePlatform;
  infrastructureName: string;
  zone: string;
}

/** The Machine API appends a dash and five characters. */
const suffixLength = 6;
/** Of a computer name of Windows. */
const maxComputerName = 15;
/** Of a label value and of a virtual machine of Google Cloud. */
const maxMachineName = 63;

/** The name of a set, from which its Machines have theirs. */
export function windowsSetName(wanted: string | undefined, facts: NameFacts): string {
  const name = wanted ?? defaultName(facts);
  if (!/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)) {
    throw refused(name, 'which has other characters than a-z, 0-9 and dashes, or the wrong ones at its ends');
  }
  const limit = (facts.platform.hasShortNames ? maxComputerName : maxMachineName) - suffixLength;
  if (name.length <= limit) return name;
  const machine = `its Machines would be named like ${name}-x7k2q (${name.length + suffixLength} characters)`;
  const why = facts.platform.hasShortNames
    ? `${machine}, and on ${facts.platformType} a computer name of Windows has ${maxComputerName} at most`
    : `${machine}, of ${maxMachineName} at most`;
  throw refused(name, `which has ${name.length} characters: ${why}`, limit);
}

function defaultName({ platform, infrastructureName, zone }: NameFacts): string {
  const zoned = zone === '' ? '' : `-${zone}`;
  if (!platform.hasShortNames) return `${infrastructureName}-windows-worker${zoned}`;
  // Zones of Azure are numbers.
  return /^\d$/.test(zone) ? `winwork${zoned}` : 'winworker';
}

function refused(name: string, why: string, limit?: number): AppError {
  const remedy = limit === undefined ? 'Pass another --name.' : `Pass a --name of at most ${limit} characters.`;
  return new AppError('MACHINE_SET_REFUSED', `a MachineSet cannot have the name ${shown(name)}, ${why}`, { remedy });
}

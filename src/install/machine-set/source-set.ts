import { AppError, shown } from '#base/errors.ts';
import { Fields, isRecord } from '#base/fields.ts';
import { machineLabel, namespaceName } from '#contract/names.ts';
import type { KubeObject } from '#contract/object.ts';
import type { MachinePlatform, ProviderSpec } from './machine-platform.ts';

/** A MachineSet from which another is made. */
export interface SourceSet {
  set: KubeObject;
  isWindows: boolean;
  spec: ProviderSpec;
  /** Read the same object as `spec`. */
  fields: Fields;
  zone: string;
}

export interface SourceChoice {
  infrastructureName: string;
  platform: MachinePlatform;
  from: string | undefined;
  zone: string | undefined;
}

/** The set that `--from` names, or the only set of Linux workers, in the zone if one is wanted. */
export function chooseSource(all: readonly KubeObject[], choice: SourceChoice): SourceSet {
  const sets = all.filter(({ meta }) => meta.namespace === '' || meta.namespace === namespaceName.machineApi);
  const candidates = candidatesIn(sets, choice).map(set => readSource(set, choice.platform));
  const { zone } = choice;
  const fitting = zone === undefined ? candidates : candidates.filter(each => each.zone === zone);
  const [first] = fitting;
  if (first !== undefined && fitting.length === 1) return first;
  throw fitting.length > 1 ? severalSets(fitting) : noZone(candidates, zone);
}

function candidatesIn(sets: readonly KubeObject[], { from, infrastructureName }: SourceChoice): readonly KubeObject[] {
  if (from !== undefined) {
    const named = sets.filter(({ meta }) => meta.name === from);
    if (named.length > 0) return named;
    throw new AppError('OBJECT_MISSING', `there is no MachineSet ${shown(from)} in ${namespaceName.machineApi}`, {
      remedy: `Use one of: ${namesOf(sets)}.`,
    });
  }
  const workers = sets.filter(set => isLinuxWorker(set, infrastructureName));
  if (workers.length > 0) return workers;
  throw new AppError(
    'OBJECT_MISSING',
    `there is no MachineSet of Linux workers of ${infrastructureName} in ${namespaceName.machineApi}`,
    { remedy: `Name the set to start from with --from. MachineSets there: ${namesOf(sets)}.` },
  );
}

function isLinuxWorker(set: KubeObject, infrastructureName: string): boolean {
  const labels = templateLabels(set);
  return (
    labels[machineLabel.osId] === undefined &&
    labels[machineLabel.role] === 'worker' &&
    labels[machineLabel.cluster] === infrastructureName
  );
}

export function isWindowsSet(set: KubeObject): boolean {
  return templateLabels(set)[machineLabel.osId] === 'Windows';
}

function templateLabels(set: KubeObject): Record<string, string> {
  return set.fields.object('spec').object('template').object('metadata').stringMap('labels');
}

const specPath = 'spec.template.spec.providerSpec.value';

function readSource(set: KubeObject, platform: MachinePlatform): SourceSet {
  const value = set.fields.object('spec').object('template').object('spec').object('providerSpec').raw('value');
  if (!isRecord(value)) {
    throw new AppError('FIELD_INVALID', `${set.label}: ${specPath} is ${shown(value)}, not an object`, {
      remedy: 'Use another MachineSet with --from.',
    });
  }
  const fields = new Fields(value, set.label, specPath);
  return { set, isWindows: isWindowsSet(set), spec: structuredClone(value), fields, zone: platform.zone(fields) };
}

function severalSets(sets: readonly SourceSet[]): AppError {
  const zones = new Set(sets.map(({ zone }) => zone));
  const flag = zones.size === sets.length ? '--zone or --from' : '--from';
  const listed = sets.map(({ set, zone }) => (zone === '' ? set.meta.name : `${set.meta.name} (${zone})`));
  return new AppError('MACHINE_SET_UNCLEAR', `${sets.length} MachineSets of Linux workers fit: ${listed.join(', ')}`, {
    remedy: `Choose one with ${flag}.`,
  });
}

function noZone(candidates: readonly SourceSet[], zone: string | undefined): AppError {
  const zones = candidates.map(each => each.zone).filter(each => each !== '');
  const known = zones.length === 0 ? 'none of them is in a zone' : `they are in ${zones.join(', ')}`;
  const names = candidates.map(({ set }) => set.meta.name).join(', ');
  return new AppError('OBJECT_MISSING', `no MachineSet is in zone ${shown(zone)}: ${known} (${names})`, {
    remedy: 'Use one of these zones, or leave out --zone.',
  });
}

function namesOf(sets: readonly KubeObject[]): string {
  return sets.map(({ meta }) => meta.name).join(', ') || 'none';
}

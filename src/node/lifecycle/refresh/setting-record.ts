import type { InstanceRecord, InstanceSettings } from '#contract/windows-instance/resource.ts';
import type { HostSettings } from '../deps.ts';

/** Settings that a host was given; `mirrors` is known only where the files were made. */
export type GivenSettings = Pick<HostSettings, 'liveHash' | 'services'> &
  Partial<Pick<HostSettings, 'mirrors' | 'hasProxy'>>;

/** More names are not shown; an instance must stay small. */
const maxMirrors = 50;

/** The record of a host that has these settings; groups that are not given stay as they are. */
export function appliedSettings(
  { liveHash, services, mirrors, hasProxy }: Partial<GivenSettings>,
  at: string,
  known: InstanceSettings = {},
): Pick<InstanceRecord, 'settings'> {
  return {
    settings: {
      ...known,
      ...(liveHash !== undefined && { files: { desired: liveHash, applied: liveHash, at } }),
      ...(services !== undefined && { services: { desired: services, applied: services, at } }),
      ...(mirrors !== undefined && { mirrors: mirrors.slice(0, maxMirrors) }),
      ...(hasProxy !== undefined && { proxy: hasProxy }),
    },
  };
}

type SettingGroup = 'files' | 'services';

/** The record of a host that is being changed: until that is over, what it has is unknown. */
export function unknownSettings(
  known: InstanceSettings = {},
  groups: readonly SettingGroup[],
): Pick<InstanceRecord, 'settings'> {
  const settings = { ...known };
  for (const group of groups) {
    const { applied: _applied, at: _at, ...rest } = known[group] ?? { desired: '' };
    settings[group] = rest;
  }
  return { settings };
}

/** The record of a host that should get these settings. A failure with the same settings stays. */
export function desiredSettings(
  { liveHash, services }: Partial<Pick<HostSettings, 'liveHash' | 'services'>>,
  known: InstanceSettings = {},
): Pick<InstanceRecord, 'settings'> {
  const next = (group: SettingGroup, desired: string) => {
    const { [group]: before } = known;
    const { failed: _failed, ...rest } = before ?? { desired };
    return before?.desired === desired ? before : { ...rest, desired };
  };
  return {
    settings: {
      ...known,
      ...(liveHash !== undefined && { files: next('files', liveHash) }),
      ...(services !== undefined && { services: next('services', services) }),
    },
  };
}
